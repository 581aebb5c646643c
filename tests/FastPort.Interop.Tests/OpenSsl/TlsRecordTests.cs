using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>Records that no client sends, behind the first record of OpenSSL's client or alone.</summary>
public sealed class TlsRecordTests
{
    private const byte Alert = 21, Heartbeat = 24, LastKnown = 23;

    // The request of the attack of 2014: it claims 16 KiB and has none.
    private static readonly byte[] HeartbeatRequest = [Heartbeat, 3, 3, 0, 3, 1, 0x40, 0];

    [OpenSslTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_heartbeat_is_refused_and_not_answered(bool afterHello)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        byte[] hello = afterHello ? await CaptureHelloAsync() : [];

        byte[] answer = await ExchangeAsync(server.Port, [.. hello, .. HeartbeatRequest]);

        List<byte> types = RecordTypes(answer);
        Assert.All(types, static type => Assert.InRange(type, Alert - 1, LastKnown));
        Assert.DoesNotContain(Heartbeat, types);
        await server.RejectedAsync();
        await server.StillServesAsync();
    }

    [OpenSslTheory]
    [InlineData(7)]
    [InlineData(60)]
    [InlineData(int.MaxValue)]
    public async Task Garbage_after_the_first_bytes_is_refused(int kept)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        byte[] hello = await CaptureHelloAsync();
        byte[] garbage = new byte[4096];
        new Random(kept).NextBytes(garbage);

        await ExchangeAsync(server.Port, [.. hello.Take(kept), .. garbage]);

        await server.RejectedAsync();
        await server.StillServesAsync();
    }

    [OpenSslFact]
    public async Task A_client_that_changes_its_keys_again_and_again_is_ended_however_much_data_it_sends()
    {
        using var files = new TemporaryDirectory();
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.Issue("server", dns: ["localhost"]).WritePem(files["server.pem"], withKey: true);
        var options = new ConnectionServerOptions { Endpoints = { "tls://127.0.0.1:0" } };
        options.Tls.CertificateFile = files["server.pem"];
        var closed = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        long received = 0;
        await using var server = new ConnectionServer(
            options, _ => new PipeProtocol(ReadAsync, NullLogger.Instance));
        await server.StartAsync(Patience.Token);
        await using var client = OpenSslProcess.Start("s_client", "-connect", $"127.0.0.1:{server.Endpoints[0].Port}");
        await client.SaysAsync("Session-ID");

        // Each is asked to be answered, and told when it was sent. The client takes a line for a command only if it reads that line alone.
        int changes = 0;
        try
        {
            for (; !closed.Task.IsCompleted && changes < 10_000; changes++)
            {
                if (changes % 50 == 0)
                {
                    long before = Interlocked.Read(ref received);
                    await client.SendLineAsync("data");
                    await Patience.UntilAsync(
                        () => closed.Task.IsCompleted || Interlocked.Read(ref received) > before, "the server received data");
                }

                await client.SendLineAsync("K");
                await Task.WhenAny(client.SaysOnceMoreAsync("KEYUPDATE"), closed.Task).InTimeAsync();
            }
        }
        catch (IOException)
        {
            // The client ends with its connection, which may be before this side is told.
        }

        Assert.Contains("besides data", (await closed.Task.InTimeAsync()).Message, StringComparison.Ordinal);
        Assert.InRange(Interlocked.Read(ref received), 1, 5 * changes);

        async Task ReadAsync(IDuplexPipe pipe, Connection connection)
        {
            _ = connection.Closed.ContinueWith(
                ended => closed.TrySetResult(ended.Result), CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
            while (await pipe.Input.ReadAsync() is { IsCompleted: false } read)
            {
                Interlocked.Add(ref received, read.Buffer.Length);
                pipe.Input.AdvanceTo(read.Buffer.End);
            }
        }
    }

    // The first record of OpenSSL's client.
    private static async Task<byte[]> CaptureHelloAsync()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var client = OpenSslProcess.Start("s_client", "-connect", $"{listener.LocalEndpoint}", "-servername", "localhost");
        using TcpClient accepted = await listener.AcceptTcpClientAsync(Patience.Token);
        byte[] head = new byte[5];
        await accepted.GetStream().ReadExactlyAsync(head, Patience.Token);
        byte[] body = new byte[BinaryPrimitives.ReadUInt16BigEndian(head.AsSpan(3))];
        await accepted.GetStream().ReadExactlyAsync(body, Patience.Token);
        return [.. head, .. body];
    }

    // Sends this and reads until the server ends the connection, in order or by a reset.
    private static async Task<byte[]> ExchangeAsync(int port, byte[] bytes)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, port, Patience.Token);
        await socket.GetStream().WriteAsync(bytes, Patience.Token);
        using var answer = new MemoryStream();
        try
        {
            await socket.GetStream().CopyToAsync(answer, Patience.Token);
        }
        catch (IOException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            // It did not read all of it.
        }

        return answer.ToArray();
    }

    private static List<byte> RecordTypes(byte[] records)
    {
        List<byte> types = [];
        for (ReadOnlySpan<byte> rest = records; !rest.IsEmpty; rest = rest[(5 + BinaryPrimitives.ReadUInt16BigEndian(rest[3..]))..])
        {
            types.Add(rest[0]);
        }

        return types;
    }
}
