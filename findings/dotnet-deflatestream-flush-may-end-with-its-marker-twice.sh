#!/usr/bin/env bash
# Package:  System.IO.Compression of .NET 10.0 (the SDK that is installed).
# Guess:    a Flush of a DeflateStream ends its output with one marker, an empty stored block. After the last four bytes, 00 00 FF FF,
#           are removed, as permessage-deflate asks for (RFC 7692, 7.2.1), no marker is left.
# Behavior: where the end of the output meets the end of the stream's buffer of 8,192 bytes, the marker is written twice: the stream
#           asks zlib for more because the buffer is full, and zlib answers with another marker.
# Matters:  for a few lengths a message is 5 bytes longer than expected, and contains a marker after the removal. Receivers inflate it to
#           nothing. A second Flush does not cause it: without new data, Flush writes nothing.
#           zlib's documentation tells its callers so; DeflateStream's says nothing.
# Output seen, of 2,000 inputs of 7,000 to 8,999 bytes:
#   one marker: 1995
#   two markers, bytes of output: 8197, 8198, 8199, 8200, 8201
#   second flushes: 0 bytes
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
</Project>
END
cat > Program.cs <<'END'
using System.IO.Compression;

// Bytes without a pattern hardly shrink: the output grows with the input, byte by byte.
byte[] data = new byte[9000];
new Random(1).NextBytes(data);
ReadOnlySpan<byte> one = [0, 0, 0xFF, 0xFF];
ReadOnlySpan<byte> two = [0, 0, 0xFF, 0xFF, 0, 0, 0, 0xFF, 0xFF];
var twice = new List<long>();
int once = 0;
int again = 0;
for (int length = 7000; length < 9000; length++)
{
    var output = new MemoryStream();
    using var deflate = new DeflateStream(output, CompressionLevel.Fastest, leaveOpen: true);
    deflate.Write(data, 0, length);
    deflate.Flush();
    ReadOnlySpan<byte> bytes = output.GetBuffer().AsSpan(0, (int)output.Length);
    if (bytes.EndsWith(two))
    {
        twice.Add(output.Length);
    }
    else if (bytes.EndsWith(one))
    {
        once++;
    }

    long flushed = output.Length;
    deflate.Flush();
    again += (int)(output.Length - flushed);
}

Console.WriteLine($"one marker: {once}");
Console.WriteLine($"two markers, bytes of output: {string.Join(", ", twice)}");
Console.WriteLine($"second flushes: {again} bytes");
END
dotnet run -v quiet > seen.txt
cat seen.txt
# How many, and which inputs, depends on how well the bytes shrink.
grep -qE '^two markers, bytes of output: 8(19[2-9]|20[0-2])(, 8(19[2-9]|20[0-2]))*$' seen.txt
grep -qx 'second flushes: 0 bytes' seen.txt
