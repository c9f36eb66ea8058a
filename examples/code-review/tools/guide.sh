#!/bin/sh
# Prints the guide for a file: that of its language from the agent's home, then
# the team's own from style/ of the workspace, which is the current directory.
#   guide.sh GUIDES FILE
case "$2" in
*.go) language=go ;;
*.py) language=python ;;
*) language=any ;;
esac
cat "$1/$language.md"
if [ -f "style/$language.md" ]; then
	printf '\nOf this project:\n\n'
	cat "style/$language.md"
fi
