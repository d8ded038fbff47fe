package markdown

import "github.com/hew-agent/hew/internal/surface/tui/style"

// The strings and comments of families of languages. An opening that another one
// begins with stands behind it.
var (
	quotesC      = []quote{{"/*", "*/", 0, true, false, style.Comment}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesGo     = []quote{{"/*", "*/", 0, true, false, style.Comment}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}, {"`", "`", 0, true, false, style.String}}
	quotesScript = []quote{{"/*", "*/", 0, true, false, style.Comment}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}, {"`", "`", '\\', true, false, style.String}}
	quotesRust   = []quote{{"/*", "*/", 0, true, true, style.Comment}, {`r#"`, `"#`, 0, true, false, style.String}, {`"`, `"`, '\\', true, false, style.String}}
	quotesTriple = []quote{{"/*", "*/", 0, true, true, style.Comment}, {`"""`, `"""`, '\\', true, false, style.String}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesSharp  = []quote{{"/*", "*/", 0, true, false, style.Comment}, {`"""`, `"""`, 0, true, false, style.String}, {`@"`, `"`, '"', true, false, style.String}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesPython = []quote{{`"""`, `"""`, '\\', true, false, style.String}, {`'''`, `'''`, '\\', true, false, style.String}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesShell  = []quote{{`"`, `"`, '\\', true, false, style.String}, {"'", "'", 0, true, false, style.String}, {"`", "`", '\\', false, false, style.String}}
	quotesPlain  = []quote{{`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesRuby   = []quote{{"=begin", "=end", 0, true, false, style.Comment}, {`"`, `"`, '\\', true, false, style.String}, {"'", "'", '\\', true, false, style.String}, {"`", "`", '\\', false, false, style.String}}
	quotesSQL    = []quote{{"/*", "*/", 0, true, false, style.Comment}, {"'", "'", '\'', true, false, style.String}, {`"`, `"`, '"', false, false, style.String}, {"`", "`", 0, false, false, style.String}}
	quotesTOML   = []quote{{`"""`, `"""`, '\\', true, false, style.String}, {`'''`, `'''`, 0, true, false, style.String}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", 0, false, false, style.String}}
	quotesTags   = []quote{{"<!--", "-->", 0, true, false, style.Comment}, {`"`, `"`, 0, true, false, style.String}, {"'", "'", 0, true, false, style.String}}
	quotesLua    = []quote{{"--[[", "]]", 0, true, false, style.Comment}, {"[[", "]]", 0, true, false, style.String}, {`"`, `"`, '\\', false, false, style.String}, {"'", "'", '\\', false, false, style.String}}
	quotesHask   = []quote{{"{-", "-}", 0, true, true, style.Comment}, {`"`, `"`, '\\', false, false, style.String}}
	quotesTicks  = []quote{{"``", "``", 0, false, false, style.InlineCode}, {"`", "`", 0, false, false, style.InlineCode}}
	quotesDouble = []quote{{`"`, `"`, '\\', false, false, style.String}}
	quotesPS     = []quote{{"<#", "#>", 0, true, false, style.Comment}, {`"`, `"`, '`', true, false, style.String}, {"'", "'", '\'', true, false, style.String}}
)

// languages are those whose code has colours, the more frequent first.
var languages = [...]*language{
	{
		names:    " go golang mod sum work ",
		keywords: " break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var module require replace exclude toolchain ",
		types:    " any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr ",
		consts:   " true false nil iota ", comments: " // ", quotes: quotesGo,
	},
	{
		names:    " python py python3 pyi pyw ipython starlark bzl ",
		keywords: " and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield ",
		types:    " bool bytes dict float frozenset int list object set str tuple type ",
		consts:   " True False None self cls NotImplemented Ellipsis ", comments: " # ", quotes: quotesPython, has: capitals | sigils,
	},
	{
		names:    " javascript js jsx mjs cjs node typescript ts tsx mts cts deno json5 jsonc ",
		keywords: " abstract as asserts async await break case catch class const continue declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of private protected public readonly return satisfies set static super switch throw try type typeof var void while with yield ",
		types:    " any bigint boolean never number object string symbol unknown ",
		consts:   " true false null undefined this NaN Infinity ", comments: " // ", quotes: quotesScript, word: "$", has: capitals | sigils | regexps,
	},
	{
		names:    " rust rs ",
		keywords: " as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while yield ",
		types:    " bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize ",
		consts:   " true false self Self None ", comments: " // ", quotes: quotesRust, has: capitals | runes | bang,
	},
	{
		names:    " c h ",
		keywords: " auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while _Atomic _Generic _Noreturn _Static_assert ",
		types:    " bool char double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t uintptr_t unsigned void FILE ",
		consts:   " true false NULL ", comments: " // ", quotes: quotesC, has: directive,
	},
	{
		names:    " cpp c++ cc cxx hpp hh hxx cuda cu objc objective-c m mm arduino ino glsl ",
		keywords: " alignas alignof auto break case catch class co_await co_return co_yield concept const consteval constexpr constinit const_cast continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public register reinterpret_cast requires return sizeof static static_assert static_cast struct switch template throw try typedef typeid typename union using virtual volatile while ",
		types:    " bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed size_t uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t string vector map set ",
		consts:   " true false nullptr NULL this ", comments: " // ", quotes: quotesC, has: directive | capitals,
	},
	{
		names:    " java groovy gradle ",
		keywords: " abstract assert break case catch class continue def default do else enum extends final finally for if implements import instanceof interface native new non-sealed package permits private protected public record return sealed static strictfp super switch synchronized throw throws transient try var volatile when while yield ",
		types:    " boolean byte char double float int long short void ",
		consts:   " true false null this ", comments: " // ", quotes: quotesTriple, has: capitals | sigils,
	},
	{
		names:    " kotlin kt kts ",
		keywords: " abstract actual annotation as break by catch class companion const constructor continue crossinline data do dynamic else enum expect external final finally for fun if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed suspend tailrec throw try typealias val value var vararg when where while ",
		consts:   " true false null this super it ", comments: " // ", quotes: quotesTriple, has: capitals | sigils,
	},
	{
		names:    " swift ",
		keywords: " actor any as associatedtype async await break case catch class continue convenience default defer deinit didSet do else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating nonisolated open operator override private protocol public repeat required rethrows return set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet ",
		consts:   " true false nil self Self ", comments: " // ", quotes: quotesTriple, has: capitals | sigils,
	},
	{
		names:    " csharp c# cs ",
		keywords: " abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get global if implicit in init interface internal is lock namespace new operator out override params partial private protected public readonly record ref required return sealed set sizeof stackalloc static struct switch throw try typeof unchecked unsafe using var virtual volatile when where while with yield ",
		types:    " bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void ",
		consts:   " true false null this value ", comments: " // ", quotes: quotesSharp, has: capitals | directive,
	},
	{
		names:    " ruby rb rake gemspec gemfile rakefile ",
		keywords: " alias and begin BEGIN break case class def defined? do else elsif end END ensure for if in module next not or redo rescue retry return super then undef unless until when while yield require require_relative include extend attr_accessor attr_reader attr_writer private protected public raise ",
		consts:   " true false nil self __FILE__ __LINE__ ", comments: " # ", quotes: quotesRuby, word: "?", has: capitals | sigils | symbols | heredocs | dollars | hashWord | regexps,
	},
	{
		names:    " php php8 ",
		keywords: " abstract and as break case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield ",
		types:    " array bool callable float int iterable mixed never object string void self parent ",
		consts:   " true false null TRUE FALSE NULL ", comments: " // # ", quotes: quotesC, has: capitals | dollars,
	},
	{
		names:    " shell sh bash zsh ksh fish console shell-session terminal bashrc zshrc profile env ",
		keywords: " if then elif else fi for while until do done case esac in function select time export local readonly declare unset return exit break continue set shift trap source alias eval exec ! ",
		consts:   " true false ", comments: " # ", quotes: quotesShell, word: "./~", has: dollars | hashWord | commands | heredocs,
	},
	{
		names:    " sql mysql postgres postgresql pgsql sqlite plsql tsql ",
		keywords: " add all alter analyze and any as asc begin between by cascade case check collate column commit conflict constraint create cross current database default delete desc distinct do drop else end except exists explain fetch filter first for foreign from full function grant group having if ilike in index inner insert intersect into is join key lateral left like limit materialized natural not null nulls offset on only or order outer over partition primary procedure references returning revoke right rollback rows select set table temporary then to transaction trigger truncate union unique update using values view when where window with ",
		types:    " bigint bigserial blob bool boolean bytea char date datetime decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar ",
		consts:   " true false ", comments: " -- ", quotes: quotesSQL, has: anyCase,
	},
	{names: " json geojson ipynb webmanifest jsonl ndjson lock ", consts: " true false null ", quotes: quotesDouble, has: keys},
	{names: " yaml yml clang-format ", consts: " true false null yes no on off ~ ", comments: " # ", quotes: quotesPlain, word: "-", has: hashWord | anyCase, read: readKeyed},
	{names: " toml ini cfg conf properties editorconfig gitconfig service desktop ", consts: " true false ", comments: " # ; ", quotes: quotesTOML, word: "-.", has: assigns | hashWord},
	{names: " html xml svg htm xhtml vue svelte astro plist xsd xsl jsp erb csproj xaml ", quotes: quotesTags, word: "-:.", read: readTags},
	{names: " css scss sass less ", keywords: " important and not only from to ", comments: " // ", quotes: quotesC, word: "-", has: units, read: readRules},
	{names: " markdown md mdx mdown rst ", quotes: quotesTicks, read: readDoc},
	{names: " diff patch udiff ", read: readPatch},
	{
		names: " dockerfile docker containerfile ", keywords: " add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir ",
		comments: " # ", quotes: quotesPlain, has: hashWord | dollars | anyCase, read: readInstruction,
	},
	{names: " make makefile mk gnumakefile justfile ", keywords: " ifeq ifneq ifdef ifndef else endif include define endef export override vpath ", comments: " # ", quotes: quotesPlain, word: "-.", has: dollars | hashWord, read: readTarget},
	{names: " lua luau ", keywords: " and break do else elseif end for function goto if in local not or repeat return then until while ", consts: " true false nil self ", comments: " -- ", quotes: quotesLua},
	{names: " haskell hs purescript elm ", keywords: " case class data default deriving do else family forall foreign if import in infix infixl infixr instance let module newtype of qualified then type where hiding as ", comments: " -- ", quotes: quotesHask, word: "'", has: capitals | runes},
	{
		names: " scala sc sbt ", keywords: " abstract case catch class def derives do else end enum export extends extension final finally for forSome given if implicit import inline lazy match new object opaque open override package private protected return sealed super then throw trait transparent try type using val var while with yield ",
		consts: " true false null this ", comments: " // ", quotes: quotesTriple, has: capitals | sigils,
	},
	{
		names: " elixir ex exs heex ", keywords: " after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue super throw try unless unquote use when with ",
		consts: " true false nil ", comments: " # ", quotes: quotesPython, word: "?!", has: capitals | sigils | symbols,
	},
	{
		names: " zig ", keywords: " addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while ",
		types:  " anyerror anyopaque bool c_int comptime_float comptime_int f16 f32 f64 f128 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void ",
		consts: " true false null undefined ", comments: " // ", quotes: quotesPlain, has: capitals | sigils,
	},
	{names: " r rscript ", keywords: " break else for function if in next repeat return while library require source ", consts: " TRUE FALSE NULL NA NaN Inf T F ", comments: " # ", quotes: quotesPlain, word: "."},
	{
		names: " perl pl pm raku ", keywords: " and cmp do else elsif eq eval for foreach ge given gt if last le local lt my ne next no not or our package redo require return sub undef unless until use wantarray when while xor print say die push shift ",
		comments: " # ", quotes: quotesShell, has: dollars | sigils | hashWord | heredocs,
	},
	{
		names: " terraform tf hcl tfvars nomad ", keywords: " data for if in locals module output provider resource terraform variable dynamic moved import for_each count ", types: " any bool list map number object set string tuple ",
		consts: " true false null ", comments: " # // ", quotes: quotesC, word: "-", has: heredocs | dollars,
	},
	{
		names: " dart ", keywords: " abstract as assert async await base break case catch class const continue covariant default deferred do else enum export extends extension external factory final finally for get hide if implements import in interface is late library mixin new of on operator part required rethrow return sealed set show static super switch sync throw try typedef var when while with yield ",
		types: " bool double dynamic int num void ", consts: " true false null this ", comments: " // ", quotes: quotesPython, has: capitals | sigils,
	},
	{names: " clojure clj cljs edn lisp cl el elisp scheme scm racket ", keywords: " def defn defmacro defun defvar let let* letrec lambda fn if when cond do loop recur ns require quote set! begin define case and or not ", consts: " true false nil t ", comments: " ; ", quotes: quotesDouble, word: "-*?!", has: symbols},
	{names: " erlang erl hrl ", keywords: " after and andalso begin case catch div end fun if not of or orelse receive rem try when ", comments: " % ", quotes: quotesPlain, has: capitals},
	{
		names: " ocaml ml mli fsharp fs fsx ", keywords: " and as assert begin class constraint do done downto else end exception external for fun function functor if in include inherit initializer lazy let match method module mutable namespace new object of open or private rec sig struct then to try type use val virtual when while with yield ",
		types: " bool char float int list option string unit ", consts: " true false None ", comments: " // ", quotes: quotesDouble, word: "'", has: capitals | runes,
	},
	{names: " powershell ps1 psm1 pwsh ", keywords: " begin break catch class continue do dynamicparam else elseif end enum exit filter finally for foreach function if in param process return switch throw trap try until using while ", consts: " $true $false $null ", comments: " # ", quotes: quotesPS, word: "-", has: dollars | anyCase},
	{
		names: " protobuf proto thrift graphql gql ", keywords: " enum extend extensions import message oneof option optional package public repeated required reserved returns rpc service stream syntax type input interface union scalar query mutation subscription fragment on schema implements directive ",
		types: " bool bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64 map Int Float String Boolean ID ", consts: " true false null ", comments: " // # ", quotes: quotesTriple, has: capitals | sigils,
	},
	{names: " nix ", keywords: " assert else if import in inherit let rec then with ", consts: " true false null ", comments: " # ", quotes: quotesTriple, word: "-'"},
	{names: " vim viml vimrc ", keywords: " autocmd call command else elseif endfor endfunction endif endwhile execute for function if let return set while augroup map nmap nnoremap inoremap vnoremap ", comments: ` " `, quotes: quotesPlain},
	{
		names: " solidity sol ", keywords: " abstract anonymous as assembly break calldata catch constant constructor continue contract delete do else emit enum error event external fallback for function if immutable import indexed interface internal is library mapping memory modifier new override payable pragma private public pure receive return returns revert storage struct try type unchecked using view virtual while ",
		types: " address bool bytes bytes32 int int256 string uint uint8 uint256 ", consts: " true false this ", comments: " // ", quotes: quotesC, has: capitals,
	},
}
