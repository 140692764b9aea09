#!/bin/sh
# make_floor_include.sh NAME SOURCE_DIR BUILD_DIR
# Makes BUILD_DIR/include/NAME, a link to SOURCE_DIR: the include path of one floor.
set -eu
mkdir -p "$3/include"
ln -sfn "$2" "$3/include/$1"
