// Command hew is the product: calls app.
//
// It turns a language model into a programmer at work in a repository.
package main

import (
	"os"

	"github.com/hew-agent/hew/internal/app"
)

func main() {
	os.Exit(app.Main(app.Process()))
}
