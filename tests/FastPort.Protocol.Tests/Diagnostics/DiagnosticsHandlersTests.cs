using System.Buffers.Binary;
using System.Net.Sockets;
using FastPort.Framing;
using Google.Protobuf;
using Xunit;

namespace FastPort.Protocol.Tests.Diagnostics;

public sealed class DiagnosticsHandlersTests
{
    [Fact]
    public async Task Echo_returns_its_payload()
    {
        await using Loopback loop = await StartAsync();
        byte[] payload = new byte[10_000];
        new Random(3).NextBytes(payload);

        Echo reply = await loop.Client.RequestAsync(DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFrom(payload) }, Echo.Parser);

        Assert.Equal(payload, reply.Payload.ToByteArray());
    }

    [Fact]
    public async Task SinkReport_counts_one_way_frames_and_bytes_exactly()
    {
        await using Loopback loop = await StartAsync();
        ulong bytes = 0;
        for (int i = 0; i < 500; i++)
        {
            int size = i * 7 % 1000;
            bytes += (ulong)size;
            await loop.Client.SendAsync(DiagnosticType.Sink, new SequenceBody(new(new byte[size])));
        }

        SinkReport report = await ReportAsync(loop.Client);

        Assert.Equal(500u, report.Messages);
        Assert.Equal(bytes, report.Bytes);
    }

    [Fact]
    public async Task Sink_answers_a_request_with_an_empty_body_and_counts_it()
    {
        await using Loopback loop = await StartAsync();

        Assert.Empty(await loop.Client.RequestAsync(DiagnosticType.Sink, new byte[42]));

        Assert.Equal(new SinkReport { Messages = 1, Bytes = 42 }, await ReportAsync(loop.Client));
    }

    [Fact]
    public async Task SinkReport_counts_each_session_by_itself()
    {
        await using Loopback loop = await StartAsync();
        await using FastPortClient other = await Loopback.ConnectAsync(loop.Server);
        await loop.Client.RequestAsync(DiagnosticType.Sink, new byte[5]);

        Assert.Equal(new SinkReport(), await ReportAsync(other));
        Assert.Equal(new SinkReport { Messages = 1, Bytes = 5 }, await ReportAsync(loop.Client));
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 0)]
    [InlineData(1000, 1)]
    [InlineData(300, 65_536)]
    public async Task Source_streams_exactly_what_was_asked_for_and_then_replies(int messages, int size)
    {
        var sizes = new List<long>();
        MessageHandlers pushes = new MessageHandlers().MapInline(DiagnosticType.Sink, (ref InlineRequest request) =>
        {
            Assert.True(request.IsOneWay);
            sizes.Add(request.Body.Length);
        });
        await using Loopback loop = await StartAsync(pushes);

        byte[] reply = await loop.Client.RequestAsync(
            DiagnosticType.Source, new Source { Messages = (ulong)messages, PayloadBytes = (uint)size }.ToByteArray());

        // The reply comes behind the last frame, so all of them have been handled.
        Assert.Empty(reply);
        Assert.Equal(Enumerable.Repeat((long)size, messages), sizes);
    }

    [Fact]
    public async Task Source_takes_a_payload_of_the_limit_and_refuses_one_more()
    {
        long largest = 0;
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(DiagnosticType.Sink, (ref InlineRequest request) => largest = request.Body.Length);
        await using Loopback loop = await StartAsync(pushes);
        uint limit = (uint)loop.Client.Session!.MaxBodyBytes;

        await loop.Client.RequestAsync(DiagnosticType.Source, new Source { Messages = 1, PayloadBytes = limit }.ToByteArray());
        RequestFailedException failure = await Loopback.FailureAsync(
            loop.Client, DiagnosticType.Source, new Source { Messages = 1, PayloadBytes = limit + 1 }.ToByteArray());

        Assert.Equal(limit, largest);
        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Contains($"{limit + 1}", failure.Message, StringComparison.Ordinal);
        Assert.Contains($"0 to {limit}", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Source_loses_nothing_where_the_send_policy_drops()
    {
        // 30 MB: more than the kernel holds while the client does not read.
        const int Messages = 500;
        long received = 0;
        var connected = new TaskCompletionSource<Session>();
        MessageHandlers pushes = new MessageHandlers().MapInline(DiagnosticType.Sink, (ref InlineRequest _) =>
        {
            if (received++ == 0)
            {
                SpinWait.SpinUntil(() => connected.Task.Result.Connection.IsSendBlocked, Loopback.Soon);
            }
        });
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapDiagnostics(),
            pushes,
            static o => (o.Session.SendQueueFull, o.Session.SendQueueBytes) = (SendQueueFullPolicy.DropOneWay, 4096));

        Session session = Assert.Single(loop.Server.Sessions);
        connected.SetResult(session);
        await loop.Client.RequestAsync(DiagnosticType.Source, new Source { Messages = Messages, PayloadBytes = 60_000 }.ToByteArray());

        // The reply comes behind them.
        Assert.Equal(Messages, received);
        Assert.Equal(0, session.MessagesDropped);
    }

    [Fact]
    public async Task Source_waits_for_a_peer_that_does_not_read_with_its_memory_bounded_and_loses_nothing()
    {
        const int Messages = 300_000;
        const int FrameSize = 12 + 100;
        await using Loopback loop = await StartAsync();
        Session[] before = [.. loop.Server.Sessions];
        using var peer = new TcpClient();
        var endpoint = new Uri(loop.Server.Endpoints[0].ToString());
        await peer.ConnectAsync(endpoint.Host, endpoint.Port);
        NetworkStream stream = peer.GetStream();
        await stream.WriteAsync(
            Frame(DiagnosticType.Source, FrameFlags.None, 7, new Source { Messages = Messages, PayloadBytes = 100 }.ToByteArray()));
        Session session = await SessionAsync(loop, before);
        int bound = new SessionOptions().SendQueueBytes;
        await Patience.UntilAsync(
            () => session.Connection.IsSendBlocked && session.Connection.PendingBytes >= bound, "as much waits as may");

        // What waits may exceed the bound by a batch.
        Assert.InRange(session.Connection.PendingBytes, bound, bound + (128 * 1024));
        Assert.True(session.MessagesSent < Messages);

        byte[] received = new byte[(Messages * FrameSize) + 12];
        await stream.ReadExactlyAsync(received).AsTask().WaitAsync(Loopback.Soon);
        byte[] expected = Frame(DiagnosticType.Sink, FrameFlags.OneWay, 0, new byte[100]);
        for (int i = 0; i < Messages; i++)
        {
            Assert.True(received.AsSpan(i * FrameSize, FrameSize).SequenceEqual(expected));
        }

        Assert.Equal(Frame(DiagnosticType.Source, FrameFlags.Reply, 7, []), received[^12..]);
    }

    [Fact]
    public async Task Source_sends_many_messages_with_one_system_call()
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        const int Messages = 10_000;
        await using Loopback loop = await StartAsync();
        using var peer = new TcpClient();
        var endpoint = new Uri(loop.Server.Endpoints[0].ToString());
        await peer.ConnectAsync(endpoint.Host, endpoint.Port);
        NetworkStream stream = peer.GetStream();
        await stream.WriteAsync(
            Frame(DiagnosticType.Source, FrameFlags.None, 7, new Source { Messages = Messages, PayloadBytes = 64 }.ToByteArray()));
        await stream.ReadExactlyAsync(new byte[(Messages * (12 + 64)) + 12]).AsTask().WaitAsync(Loopback.Soon);

        // TCP_INFO, tcpi_data_segs_in: without delays on the sending side a system call makes a segment at least.
        byte[] info = new byte[160];
        int length = peer.Client.GetRawSocketOption((int)SocketOptionLevel.Tcp, 11, info);
        Assert.True(length >= 156);
        Assert.InRange(BinaryPrimitives.ReadUInt32LittleEndian(info.AsSpan(152)), 1u, Messages / 50u);
    }

    [Theory]
    [InlineData(DiagnosticType.Echo)]
    [InlineData(DiagnosticType.Source)]
    public async Task Answers_MalformedBody_when_the_body_does_not_parse(ushort type)
    {
        await using Loopback loop = await StartAsync();

        Assert.Equal(ErrorCode.MalformedBody, (await Loopback.FailureAsync(loop.Client, type, Loopback.NoMessage)).Code);
    }

    [Fact]
    public async Task Diagnostics_are_unknown_types_where_they_are_not_registered()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers());
        foreach (ushort type in new[] { DiagnosticType.Echo, DiagnosticType.Sink, DiagnosticType.SinkReport, DiagnosticType.Source })
        {
            Assert.Equal(ErrorCode.UnknownType, (await Loopback.FailureAsync(loop.Client, type, [])).Code);
        }
    }

    private static byte[] Frame(ushort type, FrameFlags flags, uint correlation, byte[] body)
    {
        byte[] frame = new byte[12 + body.Length];
        BinaryPrimitives.WriteUInt32LittleEndian(frame, 8 + (uint)body.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(frame.AsSpan(4), type);
        frame[6] = (byte)flags;
        frame[7] = 1;
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), correlation);
        body.CopyTo(frame, 12);
        return frame;
    }

    private static async Task<Session> SessionAsync(Loopback loop, Session[] before)
    {
        Session? session = null;
        await Patience.UntilAsync(
            () => (session = loop.Server.Sessions.Except(before).SingleOrDefault()) is not null, "the session was opened");
        return session!;
    }

    private static Task<Loopback> StartAsync(MessageHandlers? pushes = null) =>
        Loopback.StartAsync(new MessageHandlers().MapDiagnostics(), pushes);

    private static Task<SinkReport> ReportAsync(FastPortClient client) =>
        client.RequestAsync(DiagnosticType.SinkReport, new Echo(), SinkReport.Parser);
}
