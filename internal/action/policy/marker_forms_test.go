//go:build unix

package policy

// The generator's grammar. In every form @ stands for a command, % for a word
// and & for a piece of text that may hold anything.

// markerSpellings all name the marker program.
var markerSpellings = []string{
	"mark", "mark", "mark", "./mark", "m''ark", `\mark`, `"mark"`, `$'mark'`, `$'\x6dark'`, "ma?k", "./m*", "$PWD/mark", "~/proj/mark", "$M", "${M}", `"$M"`, "{mark,}", "m{ar,}k",
	"$(echo mark)", "`echo mark`", `"$(printf mar)k"`, "mark\\\n", "ma\\\nrk", "../proj/mark", "${X:-mark}", "${M/x/y}", "${M:0:4}", "$\"mark\"", "mar[k]", "eval mark", "command mark", "builtin eval mark", "exec mark", ". ./mark", "source mark", "bash mark", "bash -c mark", "sh -c mark", "env mark", "tool=1 mark",
}

// benign leaves are allowed in every mode without a rule, or by the rules of
// the run; they are what keeps trees allowed.
var benign = []string{
	"ls", "ls -la", "ls src", "cat a.txt", "cat a.txt b.txt", "head -n 2 a.txt", "wc -l a.txt", "sort a.txt", "uniq a.txt", "grep x a.txt", "grep -rn mark src", "echo hi", "echo mark", "echo 'mark'", "printf '%s\\n' mark", "true", "pwd", "find . -name mark", "git status", "git log --oneline", "git diff", "date", "tr a b",
	"tail -n1 a.txt", "cut -d: -f1 a.txt", "sed -n 1p a.txt", "test -f mark", "cd src", "tool", "tool mark", "tool run ./mark", ":", "stat a.txt", "basename a/mark", "dirname src/a", "rg x src", "diff a.txt b.txt", "file a.txt", "jq . a.json", "ls mark", "cat mark", "mkdir -p out", "touch out/mark",
}

// builtins are leaves for which the shell starts nothing.
var builtins = []string{"true", ":", "echo hi", "echo mark", "pwd", "printf '%s\\n' mark", "test -f mark", "[ a = mark ]", "cd src", "cd src && cd ..", "[[ mark == m* ]]", "echo \"a  mark\"", "false", "((1))", "x=mark"}

// inert forms hold the marker as text.
var inert = []string{
	"echo '@'", "grep -n '@' a.txt", "echo mark", "echo \\`mark\\`", "echo \"mark\"", "cat <<'E'\n@\nE", "cat <<\\E\n@\n$(@)\nE", "ls # @", "echo '$(@)'", "printf '%s' '@'", "find . -name 'mark'", "git log --grep='@'", "tool '@'", "tool -c mark", "echo \"\\$(@)\"", "sort -- mark", "cat -- mark", "ls\n# $(@)", "echo $'@'", "rg 'mark' src",
	"sed -n '/mark/p' a.txt", "wc -l < mark", "echo hi > /dev/null # @", "cat <<< 'mark'", "ls; # @", "echo \\; mark", "echo \"a;mark\"", "echo a\\\n mark", "true '@' # @", "tool \"mark\" | wc -l",
}

// commandForms are the shell's ways to put commands together.
var commandForms = []string{
	"@; @", "@ && @", "@ || @", "@ | @", "@ |& @", "@ &", "@ & @", "@\n@", "! @", "(@)", "( @; @ )", "{ @; }", "{ @; } | @", "if @; then @; fi", "if @; then @; else @; fi", "if @; then @; elif @; then @; else @; fi", "while false; do @; done", "until true; do @; done", "while @; do @; break; done",
	"for i in % %; do @; done", "for i in a b; do @; done", "for i; do @; done", "for ((i=0; i<1; i++)); do @; done", "for ((;i<1;i=i+1)); do @; done", "for ((i=a[$(@)]; i<1; i++)); do @; done", "select s in a; do @; break; done", "case % in a) @;; *) @;; esac", "case a in a) @;& b|c) @;;& *) @;; esac", "case $(@) in %) @;; esac",
	"f() { @; }", "f() { @; }; f", "function g { @; }; @", "f() (@); @", "time @", "time -p @", "coproc @", "coproc C { @; }; @", "[[ -f a.txt ]] && @", "[[ -n % && ! ( % == % ) ]] && @", "[[ % =~ % ]] || @", "[[ a -eq % ]]; @", "[[ -v % ]]; @", "[[ % < % ]] && @", "[[ -z % || -e % ]]; @",
	"((1+2)); @", "(( (1) * -2 < 3 && ~4 )); @", "((x=%)); @", "((x++)) ; @", "let x=1+2; @", "let 'x=(1+2)*-3' y=2; @", "let x=%; @", "declare x=1; @", "declare -a x=(1 2); @", "declare x=%; @", "export Y=%; @", "local x=1; @", "readonly r=1; @", "typeset -i n=1; @", "declare -A h=([a]=1 [b]=2); @", "x=1; @", "x=% @", "x=(a b %); @", "x+=1; @", "x[1]=2; @", "x=([0]=a [%]=b); @",
	"@ > out/f", "@ >> out/f", "@ 2>&1", "@ 2>/dev/null", "@ &> out/f", "@ < a.txt", "@ <<< %", "@ <<E\n&\nE", "@ <<'E'\n&\nE", "@ <<-E\n\t&\n\tE", "@ <<E\n%\nE", "@ <(@)", "cat <(@)", "diff <(@) <(@)", "@ > >(@)", "@ {fd}> out/f", "@ 3< a.txt", "> out/f", "@ >| out/f", "@ <> out/f",
	"@ # &", "# &\n@", "echo %", "echo % %", "printf '%s' %", "cat %", "ls %", "grep % a.txt", "tool %", "tool % | @", "cd % && @", "find . -name %", "git log %", "sort %", "set -- %; @", "read x <<< %; @", "test % = %", "[ % = % ]", "head -n % a.txt", "wc %", "mapfile -t x < a.txt; @", "unset x; @", "true %; @", "shopt -s extglob; @", "set -e; @", "trap - EXIT; @", "echo $((%))",
	"timeout 2 @", "nice @", "nohup @", "env @", "command @", "builtin @", "xargs @", "time nice @", "stdbuf -o0 @", "LANG=C @", "NO_COLOR=1 @", "TZ=UTC LC_ALL=C @", "eval '@'", "eval \"@\"", "bash -c '@'", "bash -c \"@\"", "trap '@' EXIT", "sh <<E\n@\nE",
}

// wordForms are the shell's ways to write a word.
var wordForms = []string{
	"%%", "'&'", "\"&\"", "\"%\"", "$'&'", "$\"&\"", "$x", "${x}", "\"$x\"", "$1", "$@", "\"$@\"", "$?", "$#", "${#x}", "${!x}", "${x:-%}", "${x:=%}", "${x:+%}", "${x-@}", "${x:1}", "${x:1:2}", "${x:%:1}", "${x: -1}", "${x/a/%}", "${x//%/b}", "${x/#a/b}", "${x%%a*}", "${x##*a}", "${x^^}", "${x,}", "${x@Q}", "${x@P}", "${x[0]}", "${x[@]}", "${x[%]}", "${!x*}", "${x:?%}",
	"$(@)", "`@`", "\"$(@)\"", "$(<a.txt)", "$(< %)", "${ @; }", "$((1+2))", "$(( (1) - -x ))", "$((x[%]))", "$((%))", "$((x=1,y++))", "$[1+%]", "$((1?2:3))", "{a,b}", "{1..3}", "{a,%}", "%{x,y}", "{%,{a,b}}", "*", "*.txt", "?.txt", "[ab].txt", "src/*", "@(a|b)", "!(mark)", "+(a|%)", "*(x)", "?(a).txt", "~", "~/a", "~+", "<(@)", ">(@)", "\\&", "a\\ b", "a%b", "-%", "--x=%", "./%", "../%", "%/..",
}

// plainWords are the words at the leaves.
var plainWords = []string{
	"a", "a.txt", "b.txt", "src", "src/a", "mark", "./mark", "-n", "--help", "1", "x", "hi", "''", "\"\"", "'mark'", "$(mark)", "`mark`", "$M", "a[$(mark)]", "'a[$(mark)]'", "\"a[\\$(mark)]\"", "out", "out/f", ".", "..", "~", "é", "-exec", "-delete", "!", "-", "--", "=mark", "+x", "@", "%s", "$'\\n'",
}

// texts are what stands between quotes, in comments and in here-documents.
var texts = []string{
	"mark", "$(mark)", "`mark`", "; mark", "a b", "&& mark", "\\$(mark)", "${x:-$(mark)}", "$((a[$(mark)]))", "'", "\"", "\\", "E\nmark\nE", "\nmark\n", "$M", "!mark", "# mark", "x\rmark", "%", "mark |", "\\\nmark", "", "'; mark; '", "\"; mark; \"", ")mark(", "}; mark; {", "\tE\nmark", "é mark",
}

// carriers are programs and built-ins that run the marker when their arguments
// say so. None of them may be allowed.
var carriers = []string{
	"find . -exec mark ;", "find . -maxdepth 0 -exec mark \\;", "find . -execdir mark +", "find src -name a -ok mark \\;", "xargs mark < a.txt", "echo x | xargs mark", "echo mark | xargs env", "echo mark | sh", "echo mark | bash", "sed '1e mark' a.txt", "sed 's/.*/mark/e' a.txt", "sed -n '1emark' a.txt", "sed -f script.sed a.txt", "sed --expression='1e mark' a.txt",
	"awk 'BEGIN{system(\"mark\")}'", "awk 'BEGIN{print | \"mark\"}'", "awk 'BEGIN{\"mark\"|getline}'", "sort --compress-program=mark -S 1k a.txt", "sort --compress-prog=mark -S1k big.txt", "git -c alias.x='!mark' x", "git -c core.fsmonitor=mark status", "git -c core.pager=mark log", "git --config-env=core.fsmonitor=M status", "git -c diff.external=mark diff", "git -c core.sshCommand=mark fetch ssh://x.invalid/y", "git grep -Omark x", "git grep --open-files-in-pager=mark x", "GIT_EXTERNAL_DIFF=mark git diff --ext-diff", "GIT_PAGER=mark git -p log", "PAGER=mark git -p log", "git -p -c core.pager=mark log", "git -C . -c core.fsmonitor=./mark status", "git rebase -x mark HEAD", "git bisect run mark", "git submodule foreach mark", "git diff --no-index --ext-diff a.txt b.txt", "GIT_SSH_COMMAND=mark git ls-remote ssh://x.invalid/y", "git log --show-signature -c gpg.program=mark", "git -c gpg.program=mark log --show-signature", "git --exec-path=. mark", "git mark", "EDITOR=mark git commit --allow-empty", "git ls-remote ext::./mark", "git -c protocol.ext.allow=always ls-remote 'ext::./mark'", "git archive --remote=ext::mark HEAD",
	"rg --pre mark x", "rg --pre=./mark x src", "rg --hostname-bin mark x", "rg --hostname-bin=./mark --hyperlink-format '{host}' x", "rg -z --pre mark x", "tar -cf out/t a.txt --checkpoint=1 --checkpoint-action=exec=mark", "tar --use-compress-program=mark -cf out/t a.txt", "tar -I mark -cf out/t a.txt", "tar --to-command=mark -xf t.tar", "timeout 1 mark", "timeout -k 1 1 mark", "nice -n 1 mark", "nohup mark", "stdbuf -o0 mark", "env -S mark", "env -S 'X=1 mark'", "env --split-string=mark", "env -i ./mark", "split --filter=mark a.txt", "time mark", "command mark", "command -p mark", "exec -a x ./mark", "builtin exec mark", "jq -n 'input' mark", "diff a.txt b.txt --to-file=mark",
	"PATH=. ls", "PATH=. tool", "PATH=.:$PATH; tool2", "PATH=fake:$PATH ls", "BASH_ENV=./mark tool", "BASH_ENV=mark bash -c :", "ENV=./mark sh -i -c :", "LD_PRELOAD=./mark ls", "PS4='$(mark)' bash -xc :", "PS4='$(mark)'; set -x; ls", "PROMPT_COMMAND=mark bash -i -c :", "SHELLOPTS=xtrace PS4='$(mark)' tool", "X='$(mark)'; echo ${X@P}", "X='$(mark)'; echo \"${X@P}\"", "X='a[$(mark)]'; echo $((X))", "X='a[$(mark)]'; ((X))", "X='a[$(mark)]'; [[ X -eq 0 ]]", "X='a[$(mark)]'; echo ${a:X}", "X='a[$(mark)]'; for ((i=X;i<1;i++)); do ls; done", "printf -v 'a[$(mark)]' x", "read 'a[$(mark)]' < a.txt", "test -v 'a[$(mark)]'", "[ -v 'a[$(mark)]' ]", "[[ -v a[$(mark)] ]]", "let 'a[$(mark)]=1'", "declare 'a[$(mark)]=1'", "declare -i n='a[$(mark)]'", "export 'a[$(mark)]=1'", "unset 'a[$(mark)]'", "local 'a[$(mark)]=1'", "declare -n r='a[$(mark)]'; echo $r", "r='a[$(mark)]'; echo ${!r}", "wait -n -p 'a[$(mark)]'", "mapfile -C mark -c 1 x < a.txt", "readarray -C 'mark #' -c 1 < a.txt", "getopts x 'a[$(mark)]'", "printf '%d' 'a[$(mark)]'", "head -n $((a[$(mark)])) a.txt", "x=([$(mark)]=1)", "a[$(mark)]=1", "a[$(mark)]=1 ls", "(( a[$(mark)] ))", "echo ${a[$(mark)]}", "echo ${x:a[$(mark)]}", "[[ $(mark) ]]", "[[ a -lt a[$(mark)] ]]", "typeset -i n; n='a[$(mark)]'", "declare -i n; n='a[$(mark)]'; echo $n", "X='a[$(mark)]'; tail -n $[X] a.txt",
	"trap mark EXIT", "trap mark DEBUG; ls", "trap mark ERR; false", "trap 'mark' RETURN; f() { :; }; f", "ls() { mark; }; ls", "function cat { mark; }; cat a.txt", "command_not_found_handle() { mark; }; nosuch", "alias ls=mark; shopt -s expand_aliases\nls", "shopt -s expand_aliases; alias ls=mark\nls", "hash -p ./mark ls; ls", "enable -n echo; echo() { mark; }; echo", "compgen -C mark x", "compgen -F mark x", "complete -C mark x", "bind -x '\"a\":mark'", "eval mark", "eval \"ma\"rk", "x=mark; $x", "x=mark eval '$x'", "set -- mark; \"$@\"", "set mark; $1", "read x <<< mark; $x", "x=(mark); ${x[0]}", "x=ma; ${x}rk", "IFS=/; x=./mark; $x", "for x in mark; do $x; done", "f() { \"$@\"; }; f mark", "f() { mark; }; f", "cat < <(mark)", "ls > >(mark)", "coproc mark", "coproc X { mark; }", "{ mark; } &", "(mark)", "! mark", "time -p mark", "source ./mark", ". mark", "bash ./mark", "bash < mark", "cat mark | bash", "bash <<< mark", "bash -s < mark", "sh mark", "history -s mark; fc -s", "fc -e mark", "cd fake && ./ls", "cd fake; PATH=. ls", "pushd . && mark", "ln -s ../mark out/ls", "cp mark out/ls && out/ls", "mv mark tool2; ./tool2", "cp mark ../bin/ls; ls", "echo mark > out/s; bash out/s", "printf mark | tee out/s; . out/s", "mkdir -p .git/hooks; cp mark .git/hooks/pre-commit; git commit --allow-empty -m x", "cp mark .git/hooks/post-index-change; git status", "git config core.fsmonitor ./mark; git status", "sed -i 's/^/mark #/' script.sh; ./script.sh", "printf '[core]\\nfsmonitor=./mark\\n' >> .git/config; git status", "echo '[diff]\nexternal=./mark' >> .git/config; git diff", "echo mark >> ~/.bashrc; bash -ic :", "touch -- -exec; find *", "cat <<E\n$(mark)\nE", "cat <<\"E\"\nE\nmark", "cat <<E\n`mark`\nE", "cat <<-E\n\t${x:-$(mark)}\n\tE", "echo \"$(cat <<E\n$(mark)\nE\n)\"", "echo $(( $(mark) ))", "echo ${x:-`mark`}", "echo ${x:=$(mark)}", "echo ${x/a/$(mark)}", "echo {a,$(mark)}", "echo @($(mark))", "case $(mark) in x) ;; esac", "case x in $(mark)) ;; esac", "case x in x) mark;; esac", "for i in $(mark); do ls; done", "select i in $(mark); do break; done < /dev/null", "if mark; then ls; fi", "while mark; do break; done", "until mark; do break; done", "x=$(mark)", "x=$(mark) ls", "export X=$(mark)", "ls <<< $(mark)", "ls > $(mark)", "ls 2> \"$(mark)\"", "exec > >(mark)", "exec 3< <(mark)", "echo \"`mark`\"", "echo ${ mark; }", "echo ${|mark;}", "ls;mark", "ls&&mark", "ls|mark", "ls&mark", "ls\nmark", "ls\\\n;mark", "ls #x\nmark", "ls\r\nmark", "echo 'a' 'b\\'; mark", "echo \"a\\\\\"; mark", "echo $'a\\''; mark", "echo \\'; mark; echo \\'",
}

// zshForms are read by zsh alone.
var zshForms = []string{
	"=mark", "echo *(e:mark:)", "ls *(e:'mark':)", "ls *(+mark)", "echo ${(e)x}", "x='$(mark)'; echo ${(e)x}", "echo ${(f)x}", "echo ${x[(r)a]}", "echo ${x[(i)m*]}", "echo ${(P)M}", "$~M", "echo =(mark)", "for i (a b) { @ }", "if [[ a == a ]] { @ }", "repeat 1 @", "repeat 1; do @; done", "ls <1-3>", "ls **/*", "echo ${${x}:-a}", "{ @ } always { @ }", "nocorrect mark", "noglob mark", "- mark", "builtin mark", "autoload mark; mark", "echo $(<a.txt)", "cat < a.txt > out/f > out/g", "@ |& @", "@ &!", "@ &|", "function { @ }", "() { @ } a", "echo ${x:-$(@)}", "print -P '%(?.$(mark).)'", "print -P '$(mark)'", "echo ${(%)x}", "zmodload zsh/zle; @", "echo a ^mark", "ls ^mark", "setopt promptsubst; print -P '$(mark)'", "chpwd() { mark }; cd src", "precmd() { mark }; ls", "alias -g G=mark; ls G", "alias -s txt=mark; a.txt", "hash ls=./mark; ls", "echo $functions", "functions[f]=mark; f", "echo ${x:s/a/b/}", "echo a.txt(:A)", "< a.txt", "> out/f", "trap mark ZERR; false", "TRAPEXIT() { mark }", "echo ${x[$(mark)]}", "(( a[$(mark)] ))", "x='a[$(mark)]'; (( x ))", "x='a[$(mark)]'; [[ x -eq 0 ]]", "typeset -i n='a[$(mark)]'", "READNULLCMD=mark; < a.txt", "NULLCMD=mark; > out/f", "READNULLCMD=./mark < a.txt", "print -v 'a[$(mark)]' x", "echo *(om[1])", "ls -d .(e['mark'])",
}

// batsForms are read as bash, in which they mean something else.
var batsForms = []string{"@test 'a' {\n@\n}", "@test \"&\" { @; }"}
