#!/usr/bin/env bash
# Package:  protoc 35.1 of Grpc.Tools 2.85.0, .NET 10 SDK to restore it.
# Guess:    a plugin that reports an error in a .proto file (CodeGeneratorResponse.error) as "file:line:column: text" has it printed as
#           protoc prints its own errors, so that an editor or a build finds the place.
# Behavior: protoc prints "--NAME_out: " before it. Its own errors begin with the file.
# Matters:  what reads "file:line:column:" at the beginning of a line takes "--NAME_out" for the file, or finds no error. A generator that
#           names places has to print them itself, or to read a descriptor set outside of protoc.
# Output seen:
#   protoc: wrong.proto:2:17: "int33" is not defined.
#   plugin: --place_out: right.proto:2:1: taken
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1 NUGET_PACKAGES="$work/packages"
cat > finding.csproj <<'END'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Grpc.Tools" Version="2.85.0" />
  </ItemGroup>
</Project>
END
dotnet restore -v quiet
case $(uname -m) in
  aarch64) protoc=packages/grpc.tools/2.85.0/tools/linux_arm64/protoc ;;
  *) protoc=packages/grpc.tools/2.85.0/tools/linux_x64/protoc ;;
esac
chmod +x "$protoc"
printf 'syntax = "proto3";\nmessage Wrong { int33 size = 1; }\n' > wrong.proto
printf 'syntax = "proto3";\nmessage Right { int32 size = 1; }\n' > right.proto

# A response whose field 1, error, has 22 bytes.
cat > plugin <<'END'
#!/bin/sh
cat > /dev/null
printf '\012\026right.proto:2:1: taken'
END
chmod +x plugin
own=$("$protoc" --plugin=protoc-gen-place=./plugin --place_out=. wrong.proto 2>&1 || true)
plugins=$("$protoc" --plugin=protoc-gen-place=./plugin --place_out=. right.proto 2>&1 || true)
echo "protoc: $own"
echo "plugin: $plugins"
[[ $own == 'wrong.proto:2:17: "int33" is not defined.' ]]
[[ $plugins == '--place_out: right.proto:2:1: taken' ]]
