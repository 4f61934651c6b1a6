autocmd BufRead,BufNewFile *.ops setfiletype ops
