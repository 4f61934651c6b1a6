" Vim syntax file: boxcar's .ops scripts
if exists("b:current_syntax")
  finish
endif

syntax keyword opsDeclaration use import impl fallback fn const struct
syntax match opsDeclaration "^\s*\zsop\ze\s\+\h"
syntax match opsDeclaration "\<mode\>\ze\s\+\h"
syntax match opsDeclaration "}\s*\zsexit\>"
syntax keyword opsStatement return if elif else while for in break continue with assert raise
syntax keyword opsOperator and or not is
syntax keyword opsConstant None True False inf nan
syntax match opsBuiltin "\%([.:]\)\@1<!\<\%(len\|range\|str\|int\|float\|bool\|min\|max\|abs\|round\|sum\|any\|all\|sorted\|zip\|enumerate\|list\|ord\|chr\|hex\|oct\|bin\|divmod\|isinstance\|type\|clock\|tensor\|manual_seed\|operator\|call\|call_at\|print\|redispatch\)\>\ze\s*("
syntax match opsType "\<\%(Tensor\|int\|float\|bool\|complex\|str\|Scalar\|Device\|ScalarType\|SymInt\|Layout\|MemoryFormat\|Generator\|Stream\|Storage\|Function\|Dict\|Any\)\>\ze\%(\s*(\)\@!"
syntax keyword opsType Dict
syntax keyword opsDtype uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128
syntax match opsNamespace "\<\h\w*\ze::"
syntax match opsFunction "\%(\<fn\s\+\)\@<=\h\w*"
syntax match opsType "\%(\<struct\s\+\)\@<=\h\w*"
syntax match opsKey "@\s*\zs\u\w*"
syntax match opsNumber "\<0[xX][0-9a-fA-F_]\+\>\|\<0[oO][0-7_]\+\>\|\<0[bB][01_]\+\>"
syntax match opsNumber "\<\d[0-9_]*\%(\.[0-9_]*\)\=\%([eE][+-]\=\d\+\)\=[jJ]\=\>"
syntax match opsEscape contained "\\\%([\\'\"abfnrtv]\|x\x\{2}\|u\x\{4}\|U\x\{8}\|\o\{1,3}\)"
syntax region opsString start=+"+ skip=+\\.+ end=+"\|$+ contains=opsEscape oneline
syntax region opsString start=+'+ skip=+\\.+ end=+'\|$+ contains=opsEscape oneline
syntax region opsField contained matchgroup=opsEscape start="{" end="\%(:[^{}]*\)\=}" contains=TOP oneline
syntax match opsEscape contained "{{\|}}"
syntax region opsString start=+\<f"+ skip=+\\.+ end=+"\|$+ contains=opsEscape,opsField oneline
syntax region opsString start=+\<f'+ skip=+\\.+ end=+'\|$+ contains=opsEscape,opsField oneline
syntax keyword opsTodo contained TODO FIXME
syntax match opsComment "#.*$" contains=opsTodo

highlight default link opsDeclaration Keyword
highlight default link opsStatement Statement
highlight default link opsOperator Operator
highlight default link opsConstant Constant
highlight default link opsBuiltin Function
highlight default link opsFunction Function
highlight default link opsType Type
highlight default link opsDtype Type
highlight default link opsNamespace Include
highlight default link opsKey PreProc
highlight default link opsNumber Number
highlight default link opsString String
highlight default link opsEscape SpecialChar
highlight default link opsComment Comment
highlight default link opsTodo Todo

let b:current_syntax = "ops"
