package shellread

import (
	"strings"
	"sync"
)

const (
	prints  = "prints to standard output only"
	reads   = "reads its operands, prints to standard output"
	reports = "reports on the machine, takes no input that could change it"
	hashes  = "reads its operands, prints digests; check mode, which opens listed files, is left out"
)

// programs is the read-only set. Left out of it on purpose: options that write,
// run, follow links out of the tree, load configuration, or wait for a terminal.
var programs = sync.OnceValue(func() map[string]*program {
	set := map[string]*program{
		":":        {why: "does nothing", operands: text},
		"true":     {why: "does nothing", operands: text},
		"false":    {why: "does nothing", operands: text},
		"echo":     {why: prints, custom: judgeEcho},
		"printf":   {why: prints + "; -v, which sets a variable by name, is left out", custom: judgePrintf},
		"pwd":      {why: prints, opts: "-L -P", operands: none},
		"seq":      {why: prints, opts: "-w -s= -f= --equal-width --separator= --format= -#", operands: text, check: noSubst},
		"sleep":    {why: "waits for a while", operands: text, check: onlyDurations},
		"exit":     {why: "ends the shell", operands: text, most: 1, check: onlyNumbers},
		"return":   {why: "ends the function", operands: text, most: 1, check: onlyNumbers},
		"break":    {why: "ends a loop", operands: text, most: 1, check: onlyNumbers},
		"continue": {why: "goes on with a loop", operands: text, most: 1, check: onlyNumbers},
		"basename": {why: "computes on text", opts: "-a -s= -z --multiple --suffix= --zero", operands: text},
		"dirname":  {why: "computes on text", opts: "-z --zero", operands: text},
		"expr":     {why: "computes on text", custom: judgeExpr},
		"which":    {why: "looks names up in PATH", opts: "-a -s --all", operands: text, check: noSubst},
		"type":     {why: "looks names up", opts: "-a -t -p -P -f", operands: text, check: noSubst},
		"command":  {why: "looks names up", custom: judgeCommand},
		"test":     {why: "tests files and strings; -v and -R, which evaluate subscripts, are left out", custom: judgeTest},
		"[":        {why: "tests files and strings; -v and -R, which evaluate subscripts, are left out", custom: judgeTest},
		"cd":       {why: "changes the directory of this text only", custom: judgeCd},

		"ls": {why: "lists names", opts: "-a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u -U -v -w= -x -X -Z -1 -I= " +
			"--all --almost-all --author --block-size= --color? --classify? --directory --full-time --group-directories-first --hide= --human-readable --ignore= " +
			"--indicator-style= --inode --literal --no-group --numeric-uid-gid --quote-name --quoting-style= --recursive --reverse --show-control-chars --si --size --sort= --time= --time-style= --width= --zero"},
		"cat":  {why: reads, opts: "-A -b -e -E -n -s -t -T -u -v --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank"},
		"head": {why: reads, opts: "-c= -n= -q -v -z -# --bytes= --lines= --quiet --silent --verbose --zero-terminated"},
		"tail": {why: reads, opts: "-c= -f -F -n= -q -s= -v -z -# +# --bytes= --lines= --follow? --quiet --silent --verbose --retry --pid= --sleep-interval="},
		"wc":   {why: reads, opts: "-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total="},
		"stat": {why: "reads attributes", opts: "-c= -f -L -t -x -s -l -F= --format= --printf= --terse --file-system --dereference"},
		"file": {
			why: "reads its operands; magic files, which it would open or compile, are left out", guarded: true,
			opts: "-b -h -i -I -k -L -n -N -r -0 --brief --mime --mime-type --mime-encoding --no-dereference --dereference --keep-going --no-pad --raw",
		},
		"du": {why: "adds up sizes", opts: "-a -b -c -d= -h -H -k -l -m -s -S -t= -x -0 -B= --all --apparent-size --block-size= --bytes --count-links --exclude= --human-readable --max-depth= --one-file-system --separate-dirs --si --summarize --threshold= --time? --total --inodes"},
		"df": {why: reports, opts: "-a -B= -h -H -i -k -l -P -t= -T -x= --all --block-size= --human-readable --inodes --local --portability --print-type --si --total --type= --exclude-type="},
		"diff": {
			why: reads, opts: "-a -b -B -c -C= -d -e -E -i -I= -n -N -p -q -r -s -t -T -u -U= -w -W= -x= -y -Z --brief --color? --context? --unified? --exclude= --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space --ignore-matching-lines= --label= -L= --minimal --new-file --no-dereference --normal --recursive --report-identical-files --side-by-side --speed-large-files --strip-trailing-cr --suppress-common-lines --text --width= --left-column",
			check: recursive("-r", "--recursive"),
		},
		"cmp":   {why: reads, opts: "-b -i= -l -n= -s --bytes= --ignore-initial= --print-bytes --quiet --silent --verbose", check: cmpOperands},
		"comm":  {why: reads, opts: "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter= --total"},
		"join":  {why: reads, opts: "-a= -e= -i -j= -o= -t= -v= -1= -2= --header --check-order --nocheck-order"},
		"paste": {why: reads, opts: "-d= -s -z --delimiters= --serial"},
		"sort": {
			why: reads + "; -o, temporary folders and compress programs are left out", guarded: true,
			opts: "-b -c -C -d -f -g -h -i -k= -m -M -n -r -R -s -S= -t= -u -V -z --check? --dictionary-order --field-separator= --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --key= --merge --month-sort --numeric-sort --random-sort --reverse --sort= --stable --unique --version-sort --zero-terminated --parallel=",
		},
		"uniq": {
			why: reads + "; a second operand would be written", guarded: true, most: 1,
			opts: "-c -d -D -f= -i -s= -u -w= -z --all-repeated? --check-chars= --count --group? --ignore-case --repeated --skip-chars= --skip-fields= --unique",
		},
		"cut":      {why: reads, opts: "-b= -c= -d= -f= -n -s -z --bytes= --characters= --complement --delimiter= --fields= --only-delimited --output-delimiter="},
		"tr":       {why: prints, opts: "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", operands: text, most: 2, check: noSubst},
		"nl":       {why: reads, opts: "-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-format= --number-width="},
		"tac":      {why: reads, opts: "-b -r -s= --separator="},
		"rev":      {why: reads, opts: ""},
		"fold":     {why: reads, opts: "-b -s -w= --bytes --spaces --width="},
		"fmt":      {why: reads, opts: "-c -s -t -u -w= --width="},
		"expand":   {why: reads, opts: "-i -t= --tabs="},
		"unexpand": {why: reads, opts: "-a -t= --tabs="},
		"column":   {why: reads, opts: "-c= -J -n= -N= -o= -s= -t -x --columns? --table --separator= --output-separator= --table-columns="},
		"od":       {why: reads, opts: "-a -A= -b -c -d -f -i -j= -l -N= -o -s -S= -t= -v -w? -x --address-radix= --format= --read-bytes= --skip-bytes="},
		"hexdump":  {why: reads, opts: "-b -c -C -d -n= -o -s= -v -x"},
		"strings":  {why: reads, opts: "-a -e= -f -n= -o -t= -# --all --bytes= --encoding= --radix="},
		"base64":   {why: reads, opts: "-d -D -i -w= --decode --ignore-garbage --wrap="},
		"tree": {
			why: "lists names; output files are left out", guarded: true,
			opts: "-a -C -d -D -f -F -h -i -I= -L= -n -N -p -P= -q -Q -r -s -S -t -u -U -v --dirsfirst --filelimit= --gitignore --noreport --prune --sort= --du --si --charset= --matchdirs --ignore-case",
		},
		"realpath": {why: "resolves names", opts: "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to< --relative-base< --strip --no-symlinks --zero"},
		"readlink": {why: "resolves names", opts: "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero"},
		"sed":      {why: reads + "; only scripts that neither write, read other files nor run", opts: sedOptions, guarded: true, custom: judgeSed},
		"find":     {why: "lists names; actions other than printing are left out", custom: judgeFind},
		"jq":       {why: "computes on its input; modules, files and the environment are left out", opts: jqOptions, guarded: true, custom: judgeJq},
		"git":      {why: "reads the repository", custom: judgeGit},
		"docker":   {why: "asks the default daemon", custom: judgeDocker},

		"date":     {why: "prints the time; setting it is left out", opts: "-u -R -I? -d= -r< --date= --iso-8601? --rfc-3339= --rfc-email --utc --universal --reference<", operands: text, check: dateFormat},
		"whoami":   {why: reports, operands: none},
		"id":       {why: reports, opts: "-g -G -n -r -u -z --group --groups --name --real --user", operands: text, check: noSubst},
		"groups":   {why: reports, operands: text, check: noSubst},
		"uname":    {why: reports, opts: "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --hardware-platform --operating-system", operands: none},
		"hostname": {why: reports + "; an operand would set it", opts: "-f -s -i -I -d -A --fqdn --short --ip-address --all-ip-addresses --domain", operands: none},
		"arch":     {why: reports, operands: none},
		"nproc":    {why: reports, opts: "--all --ignore=", operands: none},
		"uptime":   {why: reports, opts: "-p -s --pretty --since", operands: none},
		"free":     {why: reports, opts: "-b -k -m -g -h -t -w --human --total --wide --bytes --kibi --mebi --gibi --si", operands: none},
		"ps":       {why: reports + "; forms that print environments are left out", custom: judgePs},
		"lsof":     {why: reports + "; network listings, which look names up, are left out", opts: "-a -l -n -N -P -p= -s? -t -u= -U -v -w -c= -d= -F?", operands: none},
		"netstat":  {why: reports, opts: "-a -e -g -i -l -n -o -p -r -s -t -u -v -w -x -4 -6 --all --listening --numeric --program --route --statistics --tcp --udp", operands: none},
		"ss":       {why: reports, opts: "-0 -4 -6 -a -e -H -i -l -m -n -o -p -s -t -u -w -x --all --extended --listening --numeric --processes --summary --tcp --udp --unix", operands: none},
		"history":  {why: reports + "; clearing and writing are left out", opts: "", operands: text, most: 1, check: onlyNumbers},
	}
	for name := range strings.FieldsSeq("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum md5") {
		set[name] = &program{why: hashes, opts: "-b -t -a= -z -q -r --binary --text --tag --zero --algorithm="}
	}
	for name := range strings.FieldsSeq("grep egrep fgrep") {
		set[name] = grepProgram()
	}
	set["rg"] = ripgrepProgram()
	return withGrammars(set)
})

// grepProgram leaves out -R, which follows links out of the tree.
func grepProgram() *program {
	return &program{
		why: reads, operands: pattern, check: recursive("-r", "--recursive", "-d"),
		opts: "-a -A= -b -B= -c -C= -d= -D= -e= -E -f< -F -G -h -H -i -I -l -L -m= -n -o -P -q -r -s -T -u -U -v -V -w -x -y -z -Z -# " +
			"--after-context= --basic-regexp --before-context= --binary-files= --byte-offset --color? --colour? --context= --count --devices= --directories= --exclude= --exclude-dir= --exclude-from< --extended-regexp --file< --files-with-matches --files-without-match --fixed-strings --ignore-case --include= --initial-tab --invert-match --label= --line-buffered --line-number --line-regexp --max-count= --no-filename --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp --quiet --recursive --regexp= --silent --text --version --with-filename --word-regexp",
	}
}

// ripgrepProgram leaves out --pre, --hostname-bin and -z, which run programs,
// and -L, which follows links out of the tree.
func ripgrepProgram() *program {
	return &program{
		why: reads + "; preprocessors and decompressors are left out", operands: pattern, guarded: true, check: ripgrepTree,
		opts: "-A= -B= -C= -c -e= -E= -f< -F -g= -h -H -i -I -j= -l -m= -M= -n -N -o -P -p -q -r= -s -S -t= -T= -U -u -v -V -w -x -0 -. -# " +
			"--after-context= --before-context= --context= --count --count-matches --case-sensitive --color= --colors= --column --no-column --crlf --encoding= --engine= --regexp= --file< --files --files-with-matches --files-without-match --fixed-strings --glob= --iglob= --glob-case-insensitive --heading --no-heading --hidden --ignore-case --ignore-file< --invert-match --json --line-number --no-line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= -d= --max-filesize= --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-vcs --no-ignore-parent --no-messages --null --one-file-system --only-matching --passthru --path-separator= --pcre2 --pretty --quiet --replace= --smart-case --sort= --sortr= --stats --text -a --threads= --trim --type= --type-not= --type-list --unrestricted --version --vimgrep --with-filename --word-regexp",
	}
}
