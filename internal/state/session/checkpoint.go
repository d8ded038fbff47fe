package session

import "time"

// FileBackup is the before-image of a file, in the ecosystem's terms.
type FileBackup struct {
	// Snapshot is the prompt whose checkpoint it belongs to, UseID the call that
	// changes the file.
	Snapshot, UseID string
	// Path is relative to the working directory where it lies in it; Dir is the
	// real folder of the file.
	Path, Dir string
	// Name is the copy in the session's folder of file-history, "" when the file
	// did not exist.
	Name    string
	Version int
	Time    time.Time
}

// Checkpoint notes that what follows is undone by going back to the prompt.
func (w *Writer) Checkpoint(prompt string) error {
	at := stampTime(w.now())
	return w.side("file-history-snapshot", func(l *line) {
		snapshot := newLine().str("messageId", prompt).raw("trackedFileBackups", []byte("{}")).str("timestamp", at).done()
		l.str("messageId", prompt).raw("snapshot", snapshot).raw("isSnapshotUpdate", []byte("false"))
	})
}

// FileBackup notes a before-image.
func (w *Writer) FileBackup(b FileBackup) error {
	w.mu.Lock()
	call := w.chain.calls[b.UseID]
	w.mu.Unlock()
	at := stampTime(w.now())
	return w.side("file-history-delta", func(l *line) {
		backup := newLine().strOrNull("backupFileName", b.Name).val("version", b.Version).
			str("backupTime", stampTime(b.Time)).str("realParentDir", b.Dir).done()
		l.str("messageId", call).str("snapshotMessageId", b.Snapshot).str("trackingPath", b.Path).raw("backup", backup).str("timestamp", at)
	})
}
