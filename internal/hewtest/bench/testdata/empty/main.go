// Command empty does nothing, with the two packages linked that no client of a model can do without. It is the reference for start
// time, size and initialisation.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("empty")
		return
	}
	// Never reached in the bench; it keeps the linker from leaving the packages out.
	r, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer func() { _ = r.Body.Close() }()
	var v any
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(v)
}
