package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What is absent by design stays absent: no graph stands over the model, trust
// is not restored, and memory is files without an index of vectors.
func TestAbsences(t *testing.T) {
	for file, words := range map[string]string{
		"go.mod": `(?i)qdrant|faiss|chroma-|chromem|milvus|weaviate|pinecone|lancedb|hnsw|annoy|pgvector|vector|embedding|langgraph|langchain`,
		filepath.FromSlash("internal/state/settings/schema.go"): `(?i)"[a-z]*(graph|embedding|vector|restoretrust|trustrestor)[a-z]*"`,
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(words).Find(raw); found != nil {
			t.Errorf("%s holds %q", file, found)
		}
	}
}
