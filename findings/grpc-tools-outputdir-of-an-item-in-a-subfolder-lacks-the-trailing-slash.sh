#!/usr/bin/env bash
# Package:  Grpc.Tools 2.85.0, .NET 10 SDK.
# Guess:    after the target Protobuf_PrepareCompile, %(OutputDir) of every Protobuf item has the form that Grpc.Tools' default has, with a
#           trailing slash, so that '%(OutputDir)%(Filename).cs' is a path beside the generated file.
# Behavior: an item in the project's folder keeps the slash. An item in a subfolder of the ProtoRoot gets the subfolder appended, and no
#           slash: the same expression becomes one name out of folder and file.
# Matters:  a target that adds outputs beside Grpc.Tools' own writes to a wrong file as soon as a .proto file moves into a folder.
# Output seen:
#   top.proto: slash
#   inner/low.proto: no slash
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1
mkdir inner
printf 'syntax = "proto3";\npackage top;\nmessage Top { int32 size = 1; }\n' > top.proto
printf 'syntax = "proto3";\npackage low;\nmessage Low { int32 size = 1; }\n' > inner/low.proto
cat > finding.csproj <<'END'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Google.Protobuf" Version="3.36.2" />
    <PackageReference Include="Grpc.Tools" Version="2.85.0" PrivateAssets="all" />
    <Protobuf Include="top.proto;inner/low.proto" GrpcServices="None" />
  </ItemGroup>
  <Target Name="Show" AfterTargets="Protobuf_PrepareCompile">
    <ItemGroup>
      <Shown Include="@(Protobuf_Compile)">
        <Slash>no slash</Slash>
        <Slash Condition="$([System.String]::new('%(OutputDir)').EndsWith('/'))">slash</Slash>
      </Shown>
    </ItemGroup>
    <WriteLinesToFile File="seen.txt" Lines="@(Shown->'%(Identity): %(Slash)')" Overwrite="true" />
  </Target>
</Project>
END
dotnet build -v quiet
cat seen.txt
grep -qx 'top.proto: slash' seen.txt
grep -qx 'inner/low.proto: no slash' seen.txt
