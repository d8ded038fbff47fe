// Command modeltable prints the catalogue of models and endpoints that hew embeds, compressed, from the library that keeps it.
package main

import (
	"compress/gzip"
	"encoding/json"
	"log"
	"os"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// maker and model are what internal/backend/provider/modeltable reads.
type maker struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	URL        string  `json:"url,omitempty"`
	Key        string  `json:"key,omitempty"`
	Compatible bool    `json:"compatible,omitempty"`
	Models     []model `json:"models"`
}

type model struct {
	ID     string     `json:"id"`
	Window int64      `json:"window"`
	Output int64      `json:"output"`
	Thinks bool       `json:"thinks,omitempty"`
	Effort bool       `json:"effort,omitempty"`
	Images bool       `json:"images,omitempty"`
	Price  [4]float64 `json:"price"` // in, out, and the two columns for caches
}

func main() {
	var out []maker
	for _, p := range embedded.GetAll() {
		m := maker{ID: string(p.ID), Name: p.Name, URL: p.APIEndpoint, Key: p.APIKey}
		switch p.Type {
		case catwalk.TypeOpenAICompat, catwalk.TypeOpenRouter, catwalk.TypeOpenAI, catwalk.TypeVercel:
			m.Compatible = true
		}
		for _, x := range p.Models {
			m.Models = append(m.Models, model{
				ID: x.ID, Window: x.ContextWindow, Output: x.DefaultMaxTokens, Thinks: x.CanReason, Effort: x.CanReason && len(x.ReasoningLevels) > 0,
				Images: x.SupportsImages, Price: [4]float64{x.CostPer1MIn, x.CostPer1MOut, x.CostPer1MInCached, x.CostPer1MOutCached},
			})
		}
		out = append(out, m)
	}
	z, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err == nil {
		err = json.NewEncoder(z).Encode(out)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
}
