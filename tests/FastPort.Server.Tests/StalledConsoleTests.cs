using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Server.Tests;

public sealed class StalledConsoleTests
{
    // Two lines each at level Debug, together more than a pipe holds.
    private const int Connections = 1_000;

    [Fact]
    public async Task A_console_that_nobody_reads_keeps_the_server_neither_from_serving_nor_from_its_end()
    {
        using var directory = new TemporaryDirectory();
        var start = new ProcessStartInfo(
            "dotnet", [Path.Combine(AppContext.BaseDirectory, "FastPort.Server.dll"), "--listen", "tcp://127.0.0.1:0"])
        {
            RedirectStandardOutput = true,
            UseShellExecute = false,
            WorkingDirectory = directory.Path,
        };
        start.Environment["LatencyStats__OutputDirectory"] = Path.Combine(directory.Path, "Stats");
        start.Environment["Serilog__MinimumLevel__Default"] = "Debug";
        start.Environment["FastPort__ShutdownTimeout"] = "00:00:02";
        start.Environment["FastPort__ShutdownGrace"] = "00:00:00.5";
        using Process process = Process.Start(start)!;
        try
        {
            const string Mark = "listening on ";
            string line;
            do
            {
                line = await process.StandardOutput.ReadLineAsync().WaitAsync(ServerProcess.Limit)
                    ?? throw new InvalidOperationException("The server ended.");
            }
            while (!line.StartsWith(Mark, StringComparison.Ordinal));

            string endpoint = line[Mark.Length..];
            for (int i = 0; i < Connections; i++)
            {
                using var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                await peer.ConnectAsync(IPEndPoint.Parse(endpoint["tcp://".Length..]));
            }

            await using (var client = new FastPortClient(
                new FastPortClientOptions { Endpoint = endpoint, RequestTimeout = TimeSpan.FromSeconds(20) }))
            {
                await client.ConnectAsync();
                Echo echo = await client.RequestAsync(
                    DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFromUtf8("hello") }, Echo.Parser);
                Assert.Equal("hello", echo.Payload.ToStringUtf8());
            }

            using Process kill = Process.Start("kill", ["-TERM", $"{process.Id}"]);
            await process.WaitForExitAsync().WaitAsync(ServerProcess.Limit);
            Assert.Equal(0, process.ExitCode);
        }
        finally
        {
            if (!process.HasExited)
            {
                process.Kill();
                await process.WaitForExitAsync().WaitAsync(ServerProcess.Limit);
            }
        }
    }
}
