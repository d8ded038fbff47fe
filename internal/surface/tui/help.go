package tui

// KeyHelp is the table of keys, as Markdown.
func KeyHelp() string {
	return `| key | does |
|---|---|
| enter | sends; while hew works, it sends after the running step |
| \ enter, shift+enter, alt+enter, ctrl+j | new line |
| esc | interrupts and keeps everything; closes what is open |
| esc esc | clears the text; on an empty line goes back to an earlier prompt |
| up, down | moves in the text, then in earlier prompts; takes queued prompts back |
| ctrl+r | searches earlier prompts of all folders |
| shift+tab | next permission mode: asks, accepts edits, plans |
| ctrl+o | whole transcript, with results and thoughts |
| ctrl+t | hides and shows the to-do list |
| ctrl+b | lets the running command go on in the background |
| ctrl+x ctrl+k | twice stops all background work |
| ctrl+g, ctrl+x ctrl+e | opens the text in your editor |
| ctrl+s | puts the text aside, and back |
| ctrl+c | interrupts, else clears, else leaves when pressed twice |
| ctrl+d | twice leaves |
| ctrl+l | draws the screen anew |
| ctrl+z | stops hew; fg goes on |
| ctrl+a ctrl+e ctrl+k ctrl+u ctrl+w ctrl+y alt+y ctrl+_ | edit as in a shell |
| alt+p | chooses the model |

A line that begins with ` + "`/`" + ` is a command, with ` + "`!`" + ` a shell command of your own, with ` + "`#`" + ` a line of memory; ` + "`@`" + ` names files, folders and agents.
Other keys: the file keybindings.json beside your settings.
`
}
