package shellread

import (
	"path"
	"strings"
	"sync"
)

const plainEdit = "changes only the files that it names"

// editors is the set that accept-edits modes run inside the working directories.
var editors = sync.OnceValue(func() map[string]*program {
	return withGrammars(map[string]*program{
		"mkdir": {guarded: true, why: plainEdit, opts: "-p -v -m= --parents --verbose --mode=", edit: allAs(AccessWrite)},
		"touch": {guarded: true, why: plainEdit, opts: "-a -c -m -h -d= -t= -r< --no-create --no-dereference --date= --time= --reference<", edit: allAs(AccessWrite)},
		"rmdir": {guarded: true, why: plainEdit, opts: "-p -v --parents --verbose --ignore-fail-on-non-empty", edit: allAs(AccessRemove)},
		"rm":    {guarded: true, why: plainEdit, opts: "-r -R -f -v -i -I -d --recursive --force --verbose --dir --one-file-system", edit: allAs(AccessRemove)},
		"mv":    {guarded: true, why: plainEdit, opts: "-f -i -n -u -v -T -t= --force --no-clobber --update? --verbose --target-directory= --no-target-directory", edit: moved(AccessRemove)},
		"cp":    {guarded: true, why: plainEdit, opts: "-r -R -a -f -i -n -p -u -v -T -t= --recursive --archive --force --no-clobber --update? --verbose --preserve? --target-directory= --no-target-directory", edit: moved(AccessRead)},
		"sed":   {guarded: true, why: plainEdit + "; the script neither runs nor writes elsewhere", opts: sedOptions + " -i? --in-place?", edit: sedInPlace},
	})
})

// judgeEdit applies the grammar of a file command.
func (prog *program) judgeEdit(words []Word) verdict {
	a, wrong := prog.split(words, false)
	if wrong != "" {
		return unknown(wrong)
	}
	for _, o := range a.operands {
		if !o.Literal() {
			return unknown("an operand is only known at run time")
		}
	}
	paths, wrong := prog.edit(a)
	if wrong != "" {
		return unknown(wrong)
	}
	return verdict{class: FileEdit, why: prog.why, paths: append(a.paths, paths...)}
}

func allAs(access Access) func(*args) ([]PathArg, string) {
	return func(a *args) ([]PathArg, string) {
		var out []PathArg
		for _, o := range a.operands {
			out = append(out, PathArg{Word: o, Access: access})
		}
		if len(out) == 0 {
			return nil, "it names no file"
		}
		return out, ""
	}
}

// moved names the operands of cp and mv. The target may be a folder, so the
// name that a source would get inside it counts as written too.
func moved(source Access) func(*args) ([]PathArg, string) {
	return func(a *args) ([]PathArg, string) {
		ops := a.operands
		target, given := a.set["-t"]
		if !given {
			target, given = a.set["--target-directory"]
		}
		if !given {
			if len(ops) < 2 {
				return nil, "it names no target"
			}
			target, ops = ops[len(ops)-1], ops[:len(ops)-1]
		}
		if !target.Literal() || target.Text == "" {
			return nil, "its target is only known at run time"
		}
		out := []PathArg{{Word: target, Access: AccessWrite}}
		tree := a.has("-r", "-R", "-a", "--recursive", "--archive")
		for _, o := range ops {
			base := path.Base(strings.TrimRight(o.Text, "/"))
			if tree && (a.has("-T", "--no-target-directory") || base == "." || base == ".." || base == "/") {
				return nil, "it copies the content of a folder, whose names are not known"
			}
			out = append(out, PathArg{Word: o, Access: source, Recursive: tree})
			inside := target
			inside.Text = strings.TrimSuffix(target.Text, "/") + "/" + base
			out = append(out, PathArg{Word: inside, Access: AccessWrite})
		}
		return out, ""
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func sedInPlace(a *args) ([]PathArg, string) {
	short, ok := a.set["-i"]
	long, also := a.set["--in-place"]
	if !ok && !also {
		return nil, "it is not an edit in place"
	}
	for _, suffix := range []string{short.Text, long.Text} {
		if strings.Trim(strings.TrimPrefix(suffix, "."), letters) != "" {
			return nil, "the suffix of its backup is unusual"
		}
	}
	ops, wrong := sedOperands(a)
	if wrong != "" {
		return nil, wrong
	}
	var out []PathArg
	for _, o := range ops {
		out = append(out, PathArg{Word: o, Access: AccessWrite})
	}
	if len(out) == 0 {
		return nil, "it names no file"
	}
	return out, ""
}

// writers change files in ways that are not followed here.
const writers = " mkdir touch mv cp rm rmdir tee ln dd install chmod chown chgrp truncate rsync patch unzip tar mktemp shred split csplit link unlink mkfifo mknod setfacl chattr gzip gunzip bzip2 xz zstd zip ed ex "

// halfWriters are writers only in forms outside their read-only grammar.
const halfWriters = " sed sort uniq tree find git "

func writes(name string, words []Word, class Class) bool {
	if class == ReadOnly || name == "" {
		return false
	}
	if name == "find" {
		return exactOnly(name, words)
	}
	return strings.Contains(writers, " "+name+" ") || strings.Contains(halfWriters, " "+name+" ")
}

// openers are further programs that open their operands.
const openers = " less more most awk gawk mawk xxd tee dd ln install rsync tar zip unzip gzip gunzip zcat bzip2 xz vi vim nvim nano emacs ed bat batcat source . scp open xdg-open view pr split truncate chmod chown patch shred " +
	" ag ack fd jq yq sqlite3 openssl iconv uniq tree csplit dos2unix xmllint tsort ptx look zgrep zless bzcat xzcat "

// candidates lists the words of a command that was not understood which may be
// names of files, so that denials of those files still hold.
func candidates(name string, words []Word) []PathArg {
	_, known := programs()[name]
	_, edits := editors()[name]
	if !known && !edits && !strings.Contains(openers, " "+name+" ") {
		return nil
	}
	if strings.Contains(" echo printf : true false seq sleep test [ type which command cd pwd exit basename dirname expr docker ", " "+name+" ") {
		return nil
	}
	access := AccessRead
	if strings.Contains(writers, " "+name+" ") {
		access = AccessWrite
	}
	var out []PathArg
	for _, w := range words[1:] {
		if name == "git" && w.Holes != 0 {
			// Most operands of git are no files, and a message in a variable is common.
			continue
		}
		if _, val, ok := strings.Cut(w.Text, "="); ok && val != "" {
			out = append(out, PathArg{Word: Word{Text: val, Source: w.Source, Holes: w.Holes}, Access: access, Candidate: true})
		}
		if !strings.HasPrefix(w.Text, "-") && w.Text != "" {
			out = append(out, PathArg{Word: w, Access: access, Candidate: true})
		}
	}
	return out
}

// listsFiles reports whether the part prints names of files below the current
// directory, or passes such names on.
func (p *Part) listsFiles(feed bool) bool {
	if p.Class != ReadOnly {
		return false
	}
	words := p.Words[p.Start:]
	switch p.Name {
	case "find":
		return len(p.Paths) <= 1
	case "git":
		return len(words) > 1 && words[1].Text == "ls-files"
	case "rg", "grep":
		for _, w := range words[1:] {
			if w.Text == "-l" || w.Text == "-rl" || w.Text == "--files" || w.Text == "--files-with-matches" {
				return true
			}
		}
		return feed && p.Name == "grep" && len(p.Paths) == 0
	case "head", "tail", "sort", "uniq":
		return feed && len(p.Paths) == 0
	}
	return false
}
