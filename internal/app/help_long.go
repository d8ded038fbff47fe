package app

// commandGroup is the heading under which hew --help lists a command; what has
// none of its own stands under the last one.
func commandGroup(name string) string {
	switch name {
	case "sessions", "rewind", "context", "memory":
		return commandGroups()[1]
	case "permissions", "trust", "sandbox", "auto-mode":
		return commandGroups()[2]
	case "mcp", "acp", "serve", "attach", "plugin", "hooks", "team":
		return commandGroups()[3]
	case "demo", "tools", "models", "auth", "doctor":
		return commandGroups()[0]
	}
	return commandGroups()[4]
}

// commandGroups are the headings in their order.
func commandGroups() []string {
	return []string{"Commands to begin with", "Commands about what was said and changed", "Commands about what is allowed", "Commands to extend hew", "More commands"}
}

const contextUsage = `hew context - what fills the window of a session, and what was taken out of it

  hew context [SESSION]    tokens by source: instructions, rules, notes, tools, conversation, results, summaries;
                           without SESSION those of the newest session of this directory
      --explain            also what was dropped, shortened or summarised: by which stage, how much, and where it is
      --all                each item of each source
      --json               for programs

SESSION is a session id, its beginning, or a name. Nothing is sent and nothing is changed.
Make room by hand with /compact or /clear inside the session; /pin TEXT keeps a text through every compaction.
`

const acpLong = `hew acp - be an agent for an editor, on standard input and output

  hew acp [options]        speak the Agent Client Protocol, version 1, until the editor closes the connection

Zed, JetBrains and plugins of Neovim start it by this command; docs/editors.md shows the settings of each. Sessions, modes, models,
images and slash commands come from the editor. Options are those of a run: --model, --permission-mode, --allowedTools, --settings,
--mcp-config, --add-dir, … (hew --help). --session-id is the id of the first new session.
HEW_HOST_TIMEOUT_MS bounds how long a question may stay without an answer (24 hours).
`

const serveLong = `hew serve - sessions in a browser, and for programs on a WebSocket

  hew serve                    serve the sessions of all projects to this machine, on a free port, and open the page
      --listen ADDRESS         where to listen (127.0.0.1:0); other machines get in with TLS and a password or certificate only
      --read-only              everything can be looked at, nothing said, answered or changed
      --tls-cert F --tls-key F the server's certificate
      --password-file F        people sign in with a password; make the file by: hew serve --hash-password > F
      --client-ca F            let in who has a certificate of this authority
      --host NAME              a further name by which browsers call this server; may be repeated
      --idle DURATION          sign out whoever was silent that long (12h)
      --no-open                open no browser

Options of a run (--model, --permission-mode, --allowedTools, --settings, … in hew --help) hold for every session that is opened here.
Closing the page stops nothing. Who signed in and who answered what is in hew/serve.log of the home. docs/serve.md has the protocol.
`

const attachLong = `hew attach - work in a session of hew serve, here or on another machine

  hew attach URL                       list the sessions there
  hew attach URL -p PROMPT             a new session there, in the folder of the server; print the answer
      --cwd DIR                        in this folder of the server
      --session ID                     in this session instead; while it works, the prompt steers it
      --trust always|once|none         what a new folder that would run things by itself may do
      --stream-json                    print the lines of the session as they come
      --others-answer                  leave questions to other clients, instead of refusing them
      --name TEXT                      how others and the audit log know this client
      --ca F  --cert F  --key F        the authority of the server's certificate; one's own certificate

URL is the link that hew serve prints, or its address when HEW_SERVE_PASSWORD or a certificate opens it.
`

const rewindLong = `hew rewind - take back what a session changed, what it said, or both

  hew rewind SESSION --list            its prompts by number, with their ids
  hew rewind SESSION --preview         say what would change, and what cannot be undone; change nothing
  hew rewind SESSION --to MESSAGE      back to just before that prompt (number or id); the newest one when not given
      --files                          only the files; the conversation goes on as it is
      --conversation                   only the conversation; the files stay as they are
      --both                           both, as without either
      --json                           for programs

Files come back as they were before the prompt: those that tools edited, and those that shell commands changed or deleted inside
the working directories. What hew cannot undo (network, pushes, processes) is listed. Lines of the transcript are never removed.
`
