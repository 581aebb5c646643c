using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using FastPort.Comparisons.Processes;
using PeerSupport;
using Xunit;

namespace FastPort.Comparisons.Tests.Processes;

/// <summary>The load client in C over WebSocket.</summary>
public sealed class EchoLoadTests(EchoLoadTests.Programs programs) : IClassFixture<EchoLoadTests.Programs>
{
    private const int InFlight = 4;

    private enum Fault
    {
        None,
        WrongByte,
        NotFound,
    }

    // Payloads whose messages have each of the three forms of a length.
    [Theory]
    [InlineData(64, "single", 1)]
    [InlineData(64, "burst", InFlight)]
    [InlineData(20_000, "burst", InFlight)]
    public async Task Frames_lie_in_messages_as_asked_and_replies_are_read_wherever_they_are_cut(int size, string messages, int largest)
    {
        if (await RunAsync(Fault.None, "--size", Invariant.Text(size), "--messages", messages) is not { } run)
        {
            return;
        }

        Assert.Equal((0, ""), (run.ExitCode, run.Errors));
        Assert.InRange(LoadResult.Read(run.Output).Messages, 1, long.MaxValue);
        Assert.Equal(largest, run.LargestMessage);
    }

    [Fact]
    public async Task A_reply_that_differs_fails_the_run()
    {
        if (await RunAsync(Fault.WrongByte) is { } run)
        {
            Assert.Equal(1, run.ExitCode);
            Assert.Contains("differs from its request's", run.Errors, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_server_that_refuses_the_WebSocket_is_named_with_its_status()
    {
        if (await RunAsync(Fault.NotFound) is { } run)
        {
            Assert.Equal(1, run.ExitCode);
            Assert.Contains("refused the WebSocket: HTTP/1.1 404 Not Found", run.Errors, StringComparison.Ordinal);
        }
    }

    // Null where there is no C compiler.
    private async Task<Run?> RunAsync(Fault fault, params string[] arguments)
    {
        NativePrograms native = programs.Native!;
        if (native.Missing(native.EchoLoad) is not null)
        {
            return null;
        }

        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task<int> serving = ServeAsync(listener, fault);
        string[] command =
        [
            native.EchoLoad, "--port", Invariant.Text(((IPEndPoint)listener.LocalEndpoint).Port), "--path", "/echo", "--connections", "1",
            "--in-flight", Invariant.Text(InFlight), "--warmup", "0", "--duration", "0.2", "--server-pid",
            Invariant.Text(Environment.ProcessId), .. arguments,
        ];
        using ChildProcess client = programs.Bench.Children.Start(command, programs.Bench.TemporaryFolder);
        await client.WaitForExitAsync(TestContext.Current.CancellationToken);
        return new Run(client.ExitCode, client.Output(), client.Errors(), await serving);
    }

    /// <returns>Frames of the largest message.</returns>
    private static async Task<int> ServeAsync(TcpListener listener, Fault fault)
    {
        using Socket client = await listener.AcceptSocketAsync(TestContext.Current.CancellationToken);
        await using var stream = new NetworkStream(client);
        if (fault == Fault.NotFound)
        {
            await stream.WriteAsync("HTTP/1.1 404 Not Found\r\n\r\n"u8.ToArray(), TestContext.Current.CancellationToken);
            return 0;
        }

        using WebSocket socket = await WebSocketServerHandshake.AcceptAsync(stream);
        int largest = 0;
        byte[] request = new byte[128 * 1024];
        byte[] replies = new byte[request.Length];
        try
        {
            while (await ReceiveAsync(socket, request) is > 0 and var bytes)
            {
                int written = TypedEcho.Answer(request.AsSpan(0, bytes), replies).Written;
                largest = Math.Max(largest, bytes / (BitConverter.ToInt32(request) + sizeof(int)));
                replies[written - 1] ^= fault == Fault.WrongByte ? (byte)1 : (byte)0;
                await SendInPiecesAsync(socket, replies.AsMemory(0, written));
            }
        }
        catch (WebSocketException)
        {
            // The load client ends without a Close.
        }

        return largest;
    }

    private static async Task<int> ReceiveAsync(WebSocket socket, byte[] message)
    {
        int filled = 0;
        while (true)
        {
            ValueWebSocketReceiveResult read = await socket.ReceiveAsync(message.AsMemory(filled), TestContext.Current.CancellationToken);
            filled += read.Count;
            if (read.EndOfMessage)
            {
                return filled;
            }
        }
    }

    // WebSocket frames of 0, 1, up to 126 bytes, and the rest: headers of all lengths, and cuts within FastPort's headers.
    private static async Task SendInPiecesAsync(WebSocket socket, ReadOnlyMemory<byte> reply)
    {
        foreach (int piece in (int[])[0, 1, Math.Min(126, reply.Length / 2), reply.Length])
        {
            ReadOnlyMemory<byte> part = reply[..Math.Min(piece, reply.Length)];
            reply = reply[part.Length..];
            await socket.SendAsync(part, WebSocketMessageType.Binary, reply.IsEmpty, TestContext.Current.CancellationToken);
        }
    }

    /// <summary>The programs in C, compiled once.</summary>
    public sealed class Programs : IAsyncLifetime
    {
        internal Workbench Bench { get; } = new(ProgramLocator.Create(), CpuPinning.Detect());

        internal NativePrograms? Native { get; private set; }

        public async ValueTask InitializeAsync() =>
            Native = await NativePrograms.BuildAsync(Bench, TestContext.Current.CancellationToken);

        public ValueTask DisposeAsync()
        {
            Bench.Dispose();
            return ValueTask.CompletedTask;
        }
    }

    private sealed record Run(int ExitCode, string Output, string Errors, int LargestMessage);
}
