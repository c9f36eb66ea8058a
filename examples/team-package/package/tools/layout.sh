#!/bin/sh
# Prints what stands at the top of the workspace, which is the current directory.
echo "At the top of the workspace:"
for name in *; do
	if [ -d "$name" ]; then
		echo "- $name/"
	elif [ -f "$name" ]; then
		echo "- $name"
	fi
done
