package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// editFile opens a file in the person's editor, as VISUAL and EDITOR name it, by
// an argument vector: no shell reads the name. The path must be absolute.
func (t *terminal) editFile(path string) error {
	argv := strings.Fields(t.e.getenv("VISUAL"))
	if len(argv) == 0 {
		argv = strings.Fields(t.e.getenv("EDITOR"))
	}
	if len(argv) == 0 {
		argv = []string{"vi"}
	}
	if err := t.dev.Lend(); err != nil {
		return err
	}
	cmd := exec.Command(argv[0], append(argv[1:], path)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.e.Dir, t.e.Environ, os.Stdin, t.e.screen, t.e.screen
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w (VISUAL and EDITOR name the editor)", argv[0], err)
	}
	return errors.Join(err, t.dev.Return())
}

// clipboardReaders print the clipboard's picture as PNG, by operating system.
func clipboardReaders() [][]string {
	switch runtime.GOOS {
	case "darwin":
		return [][]string{{"pngpaste", "-"}}
	case "windows":
		return [][]string{{"powershell", "-NoProfile", "-Command", "Add-Type -AssemblyName System.Windows.Forms; $i=[Windows.Forms.Clipboard]::GetImage(); if ($i) { $o=[Console]::OpenStandardOutput(); $i.Save($o,[Drawing.Imaging.ImageFormat]::Png) }"}}
	}
	return [][]string{{"wl-paste", "--type", "image/png"}, {"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}}
}

// clipboardImage writes the clipboard's picture into a file and names it.
func (t *terminal) clipboardImage(ctx context.Context) (string, error) {
	var names strings.Builder
	for _, argv := range clipboardReaders() {
		names.WriteString(" " + argv[0])
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout = t.e.Environ, &out
		if err := cmd.Run(); err != nil || out.Len() == 0 {
			return "", errors.New("the clipboard holds no picture")
		}
		f, err := os.CreateTemp("", "hew-clipboard-*.png")
		if err != nil {
			return "", err
		}
		_, err = f.Write(out.Bytes())
		return f.Name(), errors.Join(err, f.Close())
	}
	return "", errors.New("the clipboard cannot be read here; install one of:" + names.String())
}
