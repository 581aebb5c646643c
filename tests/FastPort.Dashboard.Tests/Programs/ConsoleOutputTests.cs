using System.Net.Sockets;
using FastPort.Dashboard.Tests.Support;
using Xunit;

namespace FastPort.Dashboard.Tests.Programs;

/// <summary>Trouble with the console is never the reason for a program to stop.</summary>
public sealed class ConsoleOutputTests
{
    [Theory]
    [InlineData("FastPort.Server", ">/dev/full", "Standard output cannot be written: ")]
    [InlineData("FastPort.OpcBridge", ">/dev/full", "Standard output cannot be written: ")]
    [InlineData("FastPort.Server", ">/dev/full 2>/dev/full", "")]
    [InlineData("FastPort.Server", ">&-", "")]
    [InlineData("FastPort.Server", ">&- 2>&-", "")]
    public async Task A_program_whose_output_is_full_or_closed_serves_and_ends_as_usual(string program, string redirection, string said)
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "There is no /dev/full.");
        using var directory = new TemporaryDirectory();
        string socket = Path.Combine(directory.Path, "fastport.sock");
        await using ServerProcess process = DashboardPrograms.StartBy(
            ["/bin/sh", "-c", $"exec \"$0\" \"$@\" {redirection}"], program, ["--listen", $"unix://{socket}"],
            ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"));
        await Patience.UntilAsync(() => Accepts(socket), "it listens");

        await using (var client = new FastPortClient(new FastPortClientOptions { Endpoint = $"unix://{socket}" }))
        {
            await client.ConnectAsync(Patience.Token);
        }

        await Patience.UntilAsync(() => process.Errors.Contains(said, StringComparison.Ordinal), "it says that its output is lost");
        process.Signal(ServerProcess.SigTerm);
        Assert.Equal(0, await process.ExitAsync());
        Assert.InRange(process.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length, 0, 1);
    }

    // The file of a socket is there before the socket listens.
    private static bool Accepts(string path)
    {
        using var probe = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            probe.Connect(new UnixDomainSocketEndPoint(path));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    [Fact]
    public async Task A_log_file_that_cannot_be_written_is_told_once()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "file");
        await File.WriteAllTextAsync(file, "no directory", TestContext.Current.CancellationToken);
        await using ServerProcess server = DashboardPrograms.StartServer(
            ["--listen", "tcp://127.0.0.1:0"],
            ("Serilog__WriteTo__1__Args__configure__0__Args__path", Path.Combine(file, "fastport-.log")));
        await server.ListeningAsync();

        await Patience.UntilAsync(() => server.Errors.Contains("The log cannot be written: ", StringComparison.Ordinal), "it is told");
        server.Signal(ServerProcess.SigTerm);
        Assert.Equal(0, await server.ExitAsync());
        Assert.Contains(file, server.Errors, StringComparison.Ordinal);
        Assert.Single(server.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }
}
