package policy

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func shell(command string) Request { return call("Bash", map[string]any{"command": command}) }

// unasked commands run in default mode without any rule.
var unasked = []string{
	"ls -la src", "cat a.txt b.txt", "head -5 a.txt", "tail -n +3 a.txt", "tail +3 a.txt", "wc -l < a.txt", "grep -rn --include=*.go foo .",
	"grep -e foo -e bar a.txt", "sed -n '/start/,/end/p' a.txt", "sed 's/a/b/g; s/c/d/' a.txt", "sed -E 's#(a|b)#\\1#' a.txt", `sed ':a;N;$!ba;s/\n/ /g' a.txt`,
	"sort -k2,2nr -t, a.csv", "cut -d, -f1 a.csv | sort -u", "tr -d '\\r' < a.txt", "echo 'it''s fine'", "printf '%s\\n' -x", "echo $((1 + 2))", "echo \"exit: $?\"",
	"ls; echo \"exit: $?\"", "for f in src/*.go; do echo \"== $f ==\"; head -3 \"$f\"; done", "for i in 1 2 3; do echo $i; done", "D=src; ls \"$D\"", "if [ -d src ]; then ls src; else echo none; fi",
	"case a in a) ls;; *) pwd;; esac", "(cd src && ls -la) | head", "{ ls; pwd; } | sort", "cd src && cat ../a.txt", "cd src && cat app.ts && cd .. && ls", "column -t *", "git diff HEAD~2 -- src/a.go", "git show HEAD:src/a.go",
	"git log -p -3 --stat", "git log --oneline main..HEAD", "git branch --list 'feat/*'", "git branch --show-current", "git rev-parse --abbrev-ref HEAD", "git --no-pager diff", "git stash show -p", "git grep -n foo -- src",
	"find . -type f -name '*.go' -not -path './vendor/*' -newer a.txt", "find . \\( -name a -o -name b \\) -print0", "find src -type f | xargs wc -l", "git ls-files '*.go' | head -20 | xargs cat",
	"diff <(sort a.txt) <(sort b.txt)", "cat <<'EOF' | wc -l\nrm -rf /\nEOF", "test -f a.txt -a -d src", "[[ $? -eq 0 ]]", "[[ -f a.txt && ! -d b ]] && echo yes", "[[ abc == a* ]]", "[[ abc =~ ^a ]]",
	"which go && go version", "command -v rg", "type ls", "du -sh -- src", "rg -n 'foo bar' src -g '*.go'", "rg --files src", "jq '.a | keys' a.json", "jq -r '.[] | select(.x == \"y\")' a.json", "date -u +%FT%TZ", "ps aux", "ps -ef", "timeout 10s nice -n 5 ls",
	"while false; do ls; done", "until true; do pwd; done", "! ls missing", "true && false || ls", "ls 2>/dev/null >&2", "cat a.txt | tail -20 2>&1", "base64 -d a.b64", "stat -f a.txt", "sleep 1.5", "exit 0", "basename \"$(pwd)\"", "echo $(ls | wc -l) files",
	"ls ~/proj", "cat /home/dev/proj/a.txt", "cat ./src/../a.txt", "LC_ALL=C sort a.txt", "TZ=Europe/Berlin date", "cat a{1,2}.txt", "echo {1..3}", "ls # rm -rf /", "ls \\\n  -la", "file a.bin", "docker ps --format '{{.Names}}'", "docker images",
	"set=1; ls", "xargs < a.txt echo", "echo 'a' > /dev/null", "nl -ba a.txt", "readlink -f a.txt", "sha256sum a b", "comm -12 a b", "od -c a.bin | head", "tree -L 2", "df -h", "history 5", "cat <<EOF\na \\\nb\nEOF", "cat <<'EOF'\nEO\\\nF\nEOF", "printf '%s%%n\\n' a", "cat <<\\EOF\n$x\nEOF", "# all\nls \\\n  -la # why",
}

// asked commands must not run in default mode without any rule.
var asked = []string{
	// programs that are not known, or named in a way that hides them
	"x", "./ls", "/bin/ls", "l''", "$X", "l*", "ls-la", "~/ls", `"ls "`, "''ls x\\\n;x", "=ls", "l\\s\\ ",
	// option escapes, also abbreviated, clustered, attached and after operands
	"sort --outp=x a", "sort --o x a", "sort a -ox", "sort -T x a", "sort --compress-program=x a", "sort --files0-from=a", "sed -n --in-place p a", "sed -nE -i p a", "sed --file=x a", "sed -n 'r /etc/passwd' a",
	"sed 's/a/b/ew x' a", "sed '1!{w x\n}' a", "sed -e p -e 'w x' a", "sed 'y/a/b/;w x' a", "sed '/a/I,/b/Mw x' a", "sed '\\,a,w x' a", "sed '$!N;e' a", "sed 's/a/b/gpw x' a", "sed 'R x' a", "sed -s 'W x' a", "sed '1~2e id' a", "sed 'a\\\nx\nw y' a", "sed '}' -i a",
	"find . -exec x ;", "find . -fls x", "find . -fprintf x %p", "find . -fprint0 x", "find -L . -name a", "find . -okdir x ;", "find . -name $X", "find $X", "find . -del*", "find . -{delete,print}", "find . -regex", "find -files0-from a",
	"rg --pre=x a", "rg --pr x a", "rg -z a", "rg --search-zip a", "rg --hostname-bin=x a", "rg -nz a", "rg -L a", "grep -R a .", "grep -f /etc/passwd a", "grep --file=/etc/passwd a", "grep --exclude-from=/etc/x -r a .",
	"git -C x log", "git --git-dir=x log", "git --work-tree=/ status", "git -p log", "git --paginate log", "git -c a=b log", "git --config-env=a=b log", "git log --output x", "git log --outp=x", "git diff --no-index a b", "git diff --ext-d", "git diff -O/etc/x", "git branch x", "git branch -a x", "git branch -m a", "git branch --edit-description",
	"git tag x", "git tag -d x", "git tag -a x -m y", "git remote show origin", "git remote update", "git stash pop", "git stash push", "git config --get-regexp .", "git config --get http.extraheader", "git config -l", "git reflog delete x", "git symbolic-ref HEAD refs/x", "git worktree add x", "git grep -Ox a", "git grep --open-files-in-pager a",
	"git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git fetch", "git pull", "git notes add", "git bisect start", "git submodule status", "git help log", "git blame --contents /etc/passwd a", "git log --format=%h $X", "git diff /etc/passwd /etc/hosts", "git show :/etc/../../../../../etc/passwd",
	"date -s x", "date 010100002030", "date --se=x", "date -f /etc/passwd", "hostname x", "hostname -F x", "file -m x a", "file -z a", "file -f /etc/x", "uniq a b", "tree -o x", "tree -R -H x -o y", "tree --fromfile a", "uniq *", "sort a*", "jq -n env", "jq -n '$ENV.A'", "jq -f x a", "jq --slurpfile a /etc/x . a", "jq 'import \"x\" as x; .' a",
	"ps e", "ps auxe", "ps -o args,e $X", "history -c", "history -w x", "docker --context x ps", "docker inspect x", "docker exec x ls", "docker run x", "docker ps; docker rm x", "tar tf a.tar", "xxd a", "awk 1 a", "less a", "man ls", "env", "printenv", "node -e 1", "node a.js --version", "python3 -V -c x", "yarn --version",
	"tail -f a & x", "wc --files0-from=/etc/x", "du --files0-from=/etc/x", "base64 /etc/passwd", "md5sum -c x", "readlink /etc/x", "cmp a /etc/x", "diff -r a /etc", "ls /", "ls ~", "ls ~root", "ls ..", "ls ../proj-private", "cat ~/.ssh/id", "cat ~-/x", "stat /etc", "test -f /etc/x", "[ -d / ]", "[[ -f /etc/x ]]", "cd", "cd ..", "cd -", "cd /", "cd ~", "cd $X", "cd src/../..", "cd -P /tmp", "pushd src", "popd",
	// expansions
	"echo $X", "echo \"$X\"", "echo ${X}", "echo ${X:-a}", "echo ${X@P}", "echo ${!X}", "echo ${#X[@]}", "echo ${X:1}", "echo ${X[$(x)]}", "echo ${X//a/$(x)}", "echo $((X))", "echo $((a[0]))", "echo $[X]", "echo $(x)", "echo `x`", "echo \"`x`\"", "echo \"$(x)\"", "cat <(x)", "cat >(ls)", "ls > >(x)", "echo $(<a; x)",
	"cat \"$(echo a)\"", "ls $(echo -R)", "printf \"$(echo -v) a[0]\" x", "printf -v X y", "printf -- -v; x", "printf -vX y", "echo $(( $(x) ))", "echo $\"a\"", "cat $'a\\cA'", "X=$(x) ls", "X=$(x)", "echo ${X:=$(x)}", "cat <<EOF\n$(x)\nEOF", "cat <<EOF\n`x`\nEOF", "cat <<EOF\n$X\nEOF", "cat <<< \"$X\"", "cat <<< $(x)", "cat <<EOF\n${X:-$(x)}\nEOF", "cat <<\"EOF\"\nEOF\nx",
	"[[ -v X ]]", "[[ -v 'a[$(x)]' ]]", "[[ -R X ]]", "[[ X -eq 1 ]]", "[[ $X -gt 0 ]]", "[[ a -lt $(x) ]]", "[ -v X ]", "test -v X", "[ $X ]", "[ \"$X\" = a ]", "[[ -n $X ]]", "[ -R a ]",
	"a[$(x)]=1", "a=(1 2)", "a=([$(x)]=1)", "declare X=1", "local X=1", "readonly X", "typeset -i X=a", "export A=b", "unset X", "read X", "read -r X < a", "mapfile X < a", "readarray X", "getopts a X", "let X=1", "((X=1))", "for ((i=0;i<3;i++)); do ls; done", "select x in a; do ls; done",
	"PATH=. ls", "IFS=x ls", "GIT_DIR=x git log", "GIT_PAGER=x git log", "X=1 ls", "LD_PRELOAD=x ls", "BASH_ENV=x ls", "ENV=x ls", "PS4='$(x)' ls", "LANG=$(x) ls", "LANG=/x ls", "TZ=:/etc/x date", "LANG=$X ls", "PATH=.; ls", "IFS=x; ls", "GIT_PAGER=x; git log", "http_proxy=x; ls", "PROMPT_COMMAND=x; ls", "LC_ALL+=x ls",
	// control
	"f() { x; }; ls", "ls() { x; }; ls", "function ls { x; }", "alias ls=x", "trap x EXIT", "eval ls", "exec ls", ". a", "source a", "bash a", "bash -c ls", "sh -c ls", "echo ls | sh", "bash <<< ls", "coproc ls", "ls & x", "ls & ", "command -p ls x", "command x", "builtin x", "nice x", "nohup x", "timeout 5 x", "time x", "time -o f ls", "stdbuf -o0 x", "xargs x", "echo x | xargs", "xargs -I{} ls {}", "xargs -a /etc/x echo", "ls | xargs -n1 echo", "cat a | xargs cat", "echo a | xargs ls", "ls | xargs rm", "git ls-files | xargs sed -i p", "git ls-files | xargs sort",
	"env ls", "env -S ls", "sudo ls", "setsid ls", "watch ls", "parallel ls", "if x; then ls; fi", "while x; do ls; done", "for f in a; do x $f; done", "for f in $(x); do ls; done", "case $(x) in a) ls;; esac", "case a in $(x)) ls;; esac", "! x", "(x)", "{ x; }", "ls | x", "ls |& x", "x | ls", "ls && x", "x || ls", "ls\nx", "ls;x", "ls;;x",
	"for f in *; do cat $f; done", "for f in /etc/*; do cat \"$f\"; done", "for PATH in .; do ls; done", "while read f; do cat $f; done", "X=/etc; cat $X/passwd", "X=..; cat $X/x", "X=a; X=/etc/passwd; cat $X", "if true; then X=/etc; fi; ls $X", "X=a; read X; cat $X", "D=-delete; find . $D", "O='--output=x'; sort $O a",
	// redirects
	"ls > x", "ls >> x", "ls >| x", "ls &> x", "ls &>> x", "ls >& x", "ls <> x", "ls 2> x", "ls 3> x", "> x", "ls {fd}> x", "cat < /etc/x", "cat < $X", "ls > $X", "ls > \"$(x)\"", "cat < ~/x", "ls > a{1,2}", "ls > *", "ls 2>&1 > x", "cat 0< /etc/x", "cat </dev/tcp/a/1", "{ ls; } > x", "(ls) > x", "for i in 1; do ls; done > x", "if true; then ls; fi > x", "while false; do ls; done < /etc/x", "[[ -f a ]] > x", "X=1 > x", "ls >&2x", "ls > /dev/nullx", "ls > /dev/stdoutx", "f() { ls; } > x",
	// characters
	"ls\u00a0x", "ls \u200b", "ls \u202e", "ls\x00", "ls \x1b[2K", "ls\rx", "ls\u2028x", "ls \xff", "ls \ufeff", "ls \u00ad", "ls \x7f", "ls \u2003x",
	// line ends that bash and a parser may take differently
	"cat <<EOF\nEO\\\nF\nx\nEOF", "cat <<-EOF\n\tEO\\\nF\nx\nEOF", "cat <<EOF\nfoo\\\nEOF\nx", "echo \"$\\\n(x)\"", "echo $\\\n(x)", "ls # a \\\nx", "ls #\\\nx", "{ ls # \\\nx\n}", "if ls; then ls # \\\nx\nfi", "cat <\\\n(x)", "cat <<$'EOF'\nEOF\nx", "cat <<E\"O\"F\na\nEOF", "(ls # \\\nx\n)", "case a in a) ls # \\\nx\n;; esac", "ls\n# \\\nx", "# \\\nx",
	"printf 'a%n' PATH; ls", "printf '%5n' X", "printf '%-*n' 1 X", "printf '%%%n' X", "nice cd src", "timeout 5 cd src && cat ../../x", "nohup exit", "git log --format=%G?", "git log --show-signature", "X=a:~/x; cat \"$X\"",
	// unreadable
	"ls &&", "ls |", "ls \"", "ls '", "ls $(", "ls `", "if ls", "ls )", "ls ((", "case x", "cat <<EOF\nx", "for", "{ ls", "ls ${", "ls $((", "[[ a", "ls ;; ls", "ls & & ls", "< ", "done",
}

func TestReadOnlySetRuns(t *testing.T) {
	for _, c := range unasked {
		if d := decide(t, testConfig(Default, nil, nil, nil), shell(c)); d.Behavior != tool.Allow {
			t.Errorf("%q: %s: %s", c, d.Behavior, d.Reason)
		}
		if d := decide(t, testConfig(Plan, nil, nil, nil), shell(c)); d.Behavior != tool.Allow {
			t.Errorf("plan: %q: %s: %s", c, d.Behavior, d.Reason)
		}
	}
}

func TestNothingElseRuns(t *testing.T) {
	for _, c := range asked {
		if d := decide(t, testConfig(Default, nil, nil, nil), shell(c)); d.Behavior != tool.Ask {
			t.Errorf("%q: %s by %s: %s", c, d.Behavior, d.Layer, d.Reason)
		}
		if d := decide(t, testConfig(DontAsk, nil, nil, nil), shell(c)); d.Behavior != tool.Deny {
			t.Errorf("dontAsk: %q: %s", c, d.Behavior)
		}
	}
}

// TestAskedNeverReadOnly is the same question put to the facts, which scheduling uses.
func TestAskedNeverReadOnly(t *testing.T) {
	sc := New(testConfig(Default, nil, nil, nil))
	for _, c := range asked {
		d := sc.Decide(shell(c))
		if d.Behavior == tool.Allow {
			t.Errorf("%q runs without a Paths port", c)
		}
	}
}

func TestSuggestionsCoverNoMoreThanShown(t *testing.T) {
	for command, want := range map[string]string{
		"npm run build --x y":      "Bash(npm run *)",
		"npm test":                 "Bash(npm test *)",
		"git commit -m 'x y'":      "Bash(git commit *)",
		"go test ./...":            "Bash(go test *)",
		"npx foo bar":              "Bash(npx foo *)",
		"docker run x":             "Bash(docker run *)",
		"make":                     "Bash(make)",
		"python3 s.py":             "Bash(python3 s.py)",
		"./run.sh":                 "Bash(./run.sh)",
		"sudo ls":                  "Bash(sudo ls)",
		"bash -c 'ls -l'":          "Bash(bash -c 'ls -l')",
		"npm -v x":                 "Bash(npm -v x)",
		"FOO=1 npm test":           "Bash(FOO=1 npm test)",
		"NODE_ENV=test npm test":   "Bash(npm test *)",
		"timeout 5 npm test":       "Bash(timeout 5 npm test)",
		"npm test && go vet ./..":  "Bash(go vet *) Bash(npm test *)",
		"cat /etc/hosts":           "Read(//etc/**)",
		"x $(y)":                   "",
		"x <<E\na\nE":              "",
		"for i in 1 2; do x; done": "Bash(x)",
		"x *":                      "",
		"f() { x; }":               "",
		"a;b;c;d;e;f":              "",
	} {
		d := decide(t, testConfig(Default, nil, nil, nil), shell(command))
		var got []string
		for _, u := range d.Suggest {
			got = append(got, u.Rules...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: suggests %q, want %q", command, got, want)
		}
		// Whatever is suggested must be enough, and must parse.
		s := New(testConfig(Default, nil, nil, nil))
		for _, u := range d.Suggest {
			next, err := s.Apply(u)
			if err != nil {
				t.Fatalf("%q: %v", command, err)
			}
			s = next
		}
		if want != "" && s.Decide(shell(command)).Behavior != tool.Allow {
			t.Errorf("%q still asks after its suggestion: %s", command, s.Decide(shell(command)).Reason)
		}
		if len(s.Warnings()) > 0 {
			t.Errorf("%q: the suggestion is no rule: %v", command, s.Warnings())
		}
	}
}
