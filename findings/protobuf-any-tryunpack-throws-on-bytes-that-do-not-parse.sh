#!/usr/bin/env bash
# Package:  Google.Protobuf 3.36.2, .NET 10 SDK.
# Guess:    Any.TryUnpack, as a Try method, returns false whenever it can give no message: for another type, and for a value that is no
#           message of the named type.
# Behavior: it returns false for another type, and throws InvalidProtocolBufferException for a value that does not parse.
# Matters:  an Any comes from a peer. A program that reads an optional detail of an error with TryUnpack alone gets an exception while it
#           handles an error.
# Output seen:
#   another type: False
#   cut value: InvalidProtocolBufferException
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1
cat > finding.csproj <<'END'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Google.Protobuf" Version="3.36.2" />
  </ItemGroup>
</Project>
END
cat > Program.cs <<'END'
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

Any packed = Any.Pack(new StringValue { Value = "seven" });
Console.WriteLine($"another type: {packed.TryUnpack(out Int32Value _)}");

// The length of the text is there, and the text is not.
packed.Value = ByteString.CopyFrom(packed.Value.Span[..2]);
try
{
    Console.WriteLine($"cut value: {packed.TryUnpack(out StringValue _)}");
}
catch (InvalidProtocolBufferException e)
{
    Console.WriteLine($"cut value: {e.GetType().Name}");
}
END
dotnet run -v quiet > seen.txt
cat seen.txt
grep -qx 'another type: False' seen.txt
grep -qx 'cut value: InvalidProtocolBufferException' seen.txt
