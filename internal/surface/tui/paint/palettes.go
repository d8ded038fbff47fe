package paint

import "maps"

// builtIn are the looks of the built-in themes, by role.
func builtIn() map[string]map[string]string {
	return map[string]map[string]string{
		"dark": dark(), "light": light(), "high-contrast": contrast(), "ansi": sixteen(), "none": none(),
		"dark-daltonized": with(dark(), map[string]string{
			"success": "#58a6ff", "failure": "bold #ffa24b", "modePlan": "#58a6ff", "modeFree": "bold #ffa24b", "keyword": "#ffb86b",
			"added": "on #10294a", "addedWord": "on #1f5699", "removed": "on #3d2a10", "removedWord": "on #70490f",
		}),
		"light-daltonized": with(light(), map[string]string{
			"success": "#0550ae", "failure": "bold #8a4600", "modePlan": "#0550ae", "modeFree": "bold #8a4600", "keyword": "#8a4600",
			"added": "on #ddeeff", "addedWord": "on #a8d1ff", "removed": "on #fff0dc", "removedWord": "on #ffd099",
		}),
	}
}

func with(base, over map[string]string) map[string]string {
	maps.Copy(base, over)
	return base
}

func dark() map[string]string {
	return map[string]string{
		"dim": "#8b949e", "bold": "bold", "italic": "italic", "strike": "strike",
		"accent": "#e0a458", "heading": "bold", "link": "underline #6cb6ff", "quote": "italic #a0a8b1", "inlineCode": "#9ecbff",
		"user": "#e6edf3", "thought": "italic #8b949e", "toolName": "bold",
		"success": "#6fbf73", "warning": "#e0b04a", "failure": "#f47067",
		"added": "on #12301f", "addedWord": "on #1d5c36", "removed": "on #3a1a1d", "removedWord": "on #702a2f",
		"lineNumber": "#7d8590", "rule": "#6e7681", "selected": "on #2d3f5e",
		"keyword": "#ff8b82", "string": "#a5d6ff", "comment": "italic #8b949e", "number": "#79c0ff", "function": "#d2a8ff",
		"type": "#ffa657", "operator": "#c9d1d9",
		"modeEdit": "#b392f0", "modePlan": "#4db6ac", "modeFree": "#f47067",
	}
}

func light() map[string]string {
	return map[string]string{
		"dim": "#636c76", "bold": "bold", "italic": "italic", "strike": "strike",
		"accent": "#8f5410", "heading": "bold", "link": "underline #0969da", "quote": "italic #57606a", "inlineCode": "#0550ae",
		"user": "#1f2328", "thought": "italic #636c76", "toolName": "bold",
		"success": "#1a7f37", "warning": "#8a5c00", "failure": "#c9202b",
		"added": "on #dafbe1", "addedWord": "on #aceebb", "removed": "on #ffebe9", "removedWord": "on #ffc1bc",
		"lineNumber": "#6e7781", "rule": "#848d97", "selected": "on #cfe2ff",
		"keyword": "#c9202b", "string": "#0a3069", "comment": "italic #636c76", "number": "#0550ae", "function": "#8250df",
		"type": "#953800", "operator": "#24292f",
		"modeEdit": "#8250df", "modePlan": "#1b6f76", "modeFree": "#c9202b",
	}
}

// contrast is for eyes that need it: at least seven to one on black.
func contrast() map[string]string {
	return map[string]string{
		"dim": "#c8c8c8", "bold": "bold #ffffff", "italic": "italic", "strike": "strike",
		"accent": "bold #ffd75f", "heading": "bold underline #ffffff", "link": "underline #8fd0ff", "quote": "italic #d8d8d8", "inlineCode": "#8fe3ff",
		"user": "bold #ffffff", "thought": "italic #c8c8c8", "toolName": "bold #ffffff",
		"success": "bold #7dff8a", "warning": "bold #ffe14d", "failure": "bold #ff9a91",
		"added": "#b9ffc4 on #003b12", "addedWord": "bold #000000 on #7dff8a", "removed": "#ffd2ce on #4a0008", "removedWord": "bold #000000 on #ff9a91",
		"lineNumber": "#c8c8c8", "rule": "#a8a8a8", "selected": "bold #000000 on #ffd75f",
		"keyword": "bold #ffb3ab", "string": "#b3e0ff", "comment": "italic #c8c8c8", "number": "#a6d8ff", "function": "#e3c8ff",
		"type": "#ffcf99", "operator": "#ffffff",
		"modeEdit": "bold #d9c2ff", "modePlan": "bold #7dffe9", "modeFree": "bold #ff9a91",
	}
}

// sixteen leaves the colours to the terminal, on whatever background.
func sixteen() map[string]string {
	return map[string]string{
		"dim": "dim", "bold": "bold", "italic": "italic", "strike": "strike",
		"accent": "yellow", "heading": "bold", "link": "underline blue", "quote": "italic dim", "inlineCode": "cyan",
		"user": "bold", "thought": "italic dim", "toolName": "bold",
		"success": "green", "warning": "yellow", "failure": "red",
		"added": "green", "addedWord": "reverse green", "removed": "red", "removedWord": "reverse red",
		"lineNumber": "dim", "rule": "dim", "selected": "reverse",
		"keyword": "magenta", "string": "green", "comment": "italic dim", "number": "cyan", "function": "blue", "type": "yellow",
		"modeEdit": "magenta", "modePlan": "cyan", "modeFree": "red",
	}
}

// none has no colour; attributes carry what must not be missed.
func none() map[string]string {
	return map[string]string{
		"dim": "dim", "bold": "bold", "italic": "italic", "strike": "strike", "accent": "bold", "heading": "bold", "link": "underline",
		"quote": "italic", "user": "bold", "thought": "italic dim", "toolName": "bold", "warning": "bold", "failure": "bold",
		"addedWord": "underline", "removed": "dim", "removedWord": "dim underline", "lineNumber": "dim", "rule": "dim", "selected": "reverse",
		"comment": "dim", "modeEdit": "bold", "modePlan": "bold", "modeFree": "bold",
	}
}
