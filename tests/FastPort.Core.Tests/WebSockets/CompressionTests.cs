using System.Buffers;
using System.Buffers.Binary;
using System.Net.WebSockets;
using System.Text;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Transports;
using FastPort.WebSockets;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>Compressed messages (permessage-deflate, RFC 7692), where the server has it switched on.</summary>
public sealed class CompressionTests
{
    private const int Final = 0x80, Compressed = 0x40, Binary = 2;

    // The deflater of one session, without the part for which no session is charged.
    private const int DeflaterMemory = WebSocketDeflater.MemoryBytes - MemoryBudget.FreeBytes;

    // What is offered, and the answer; null if the offer is declined.
    public static TheoryData<string, string?> Offers => new()
    {
        { "permessage-deflate", "permessage-deflate" },
        { "permessage-deflate; client_max_window_bits", "permessage-deflate" },
        { "permessage-deflate;client_max_window_bits=10", "permessage-deflate; client_max_window_bits=10" },
        { "permessage-deflate; client_max_window_bits = \"9\"", "permessage-deflate; client_max_window_bits=9" },
        { "permessage-deflate; client_no_context_takeover", "permessage-deflate" },
        { "permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover" },
        { "permessage-deflate; server_max_window_bits=15", "permessage-deflate; server_max_window_bits=15" },
        { "permessage-deflate; server_max_window_bits=10, permessage-deflate", "permessage-deflate" },
        { "permessage-deflate\r\nSec-WebSocket-Extensions: other", "permessage-deflate" },
        { "other; permessage-deflate, permessage-deflate", "permessage-deflate" },
        { "permessage-deflate; server_max_window_bits=10", null },
        { "permessage-deflate; server_max_window_bits", null },
        { "permessage-deflate; server_max_window_bits=015", null },
        { "permessage-deflate; client_max_window_bits=7", null },
        { "permessage-deflate; client_max_window_bits=16", null },
        { "permessage-deflate; client_max_window_bits=08", null },
        { "permessage-deflate; client_max_window_bits=", null },
        { "permessage-deflate; client_no_context_takeover=1", null },
        { "permessage-deflate; server_no_context_takeover; server_no_context_takeover", null },
        { "permessage-deflate; client_no_context_takeover; client_no_context_takeover", null },
        { "permessage-deflate; unknown", null },
        { "permessage-deflate;", null },
        { "x-webkit-deflate-frame", null },
        { ",", null },
    };

    [Theory]
    [MemberData(nameof(Offers))]
    public async Task The_first_offer_that_can_be_honored_is_accepted(string offer, string? expected)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        string answer = await AttackedServer.UpgradeAsync(peer, offer);

        const string Field = "Sec-WebSocket-Extensions: ";
        string? agreed = answer.Split("\r\n").SingleOrDefault(static line => line.StartsWith(Field, StringComparison.Ordinal));
        Assert.Equal(expected, agreed?[Field.Length..]);
    }

    // Context takeover of both sides, and the client's window.
    [Theory]
    [InlineData("ws", true, true, 15)]
    [InlineData("ws", false, true, 9)]
    [InlineData("ws", true, false, 12)]
    [InlineData("ws", false, false, 15)]
    [InlineData("wss", true, true, 15)]
    public async Task The_runtime_s_client_gets_what_it_has_sent(string scheme, bool ofClient, bool ofServer, int window)
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(options =>
        {
            options.Endpoints[0] = $"{scheme}://127.0.0.1:0/game";
            options.WebSocket.Compression = true;
            if (scheme == "ws")
            {
                options.Tls.CertificateFile = string.Empty;
            }
        });
        using var peer = new ClientWebSocket();
        peer.Options.AddSubProtocol("fastport.v1");
        peer.Options.RemoteCertificateValidationCallback = static (_, shown, _, _) => shown is not null;
        peer.Options.DangerousDeflateOptions = new WebSocketDeflateOptions
        {
            ClientContextTakeover = ofClient,
            ServerContextTakeover = ofServer,
            ClientMaxWindowBits = window,
        };
        await peer.ConnectAsync(new Uri($"{both.Server.Endpoint}"), Patience.Token);
        var random = new Random(window);

        for (uint i = 1; i <= 40; i++)
        {
            byte[] body = Body(random, i == 40 ? 900_000 : random.Next(5000));
            byte[] request = Wire.Request(TestServer.Echo, i, body);
            WebSocketMessageFlags flags = default;
            for (int at = 0; at < request.Length;)
            {
                int count = Math.Min(request.Length - at, random.Next(4) == 0 ? random.Next(10) : random.Next(100_000));
                at += count;
                flags |= random.Next(2) == 0 || at == request.Length ? WebSocketMessageFlags.EndOfMessage : 0;
                await SendAsync(peer, request.AsMemory(at - count, count), flags);
                if (flags.HasFlag(WebSocketMessageFlags.EndOfMessage))
                {
                    flags = random.Next(5) == 0 ? WebSocketMessageFlags.DisableCompression : default;
                }
            }

            byte[] answer = await ReadAsync(peer, 12 + body.Length);
            Assert.True(answer.AsSpan(12).SequenceEqual(body), $"body {i} of {body.Length} bytes");
        }
    }

    [Theory]
    [InlineData("permessage-deflate", true)]
    [InlineData("permessage-deflate; server_no_context_takeover", false)]
    public async Task Messages_of_the_server_are_compressed_after_the_ones_before_unless_that_is_refused(string offer, bool isShorter)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await AttackedServer.UpgradeAsync(peer, offer);
        using var end = new DeflateEnd();
        byte[] echo = Wire.Request(TestServer.Echo, 1, Random(1000));
        List<int> lengths = [];

        for (int i = 0; i < 3; i++)
        {
            await peer.SendAsync(AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(echo)));
            (byte first, byte[] payload) = await AttackedServer.ReadFrameAsync(peer, Binary, mask: 0x0F);
            Assert.Equal(Final | Compressed | Binary, first);
            lengths.Add(payload.Length);
            if (isShorter)
            {
                Assert.Equal(echo[12..], end.Inflate(payload)[12..]);
            }
            else
            {
                using var alone = new DeflateEnd();
                Assert.Equal(echo[12..], alone.Inflate(payload)[12..]);
            }
        }

        Assert.Equal(isShorter, lengths[1] < 200);
        Assert.Equal(isShorter, lengths[2] < 200);
    }

    [Fact]
    public async Task Short_messages_are_sent_as_they_are()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await AttackedServer.UpgradeAsync(peer, "permessage-deflate");

        byte[] echo = Wire.Request(TestServer.Echo, 1, new byte[WebSocketDeflater.LeastBytes - 13]);
        await peer.SendAsync(AttackedServer.Frame(Binary, Final, echo));

        Assert.Equal(Final | Binary, (await AttackedServer.ReadFrameAsync(peer, Binary, mask: 0x0F)).First);
    }

    [Fact]
    public async Task The_memory_of_compression_counts_until_the_session_ends()
    {
        await using TestServer server = await StartAsync(static options => options.MaxBufferedMegabytes = 4);
        using RawPeer peer = await server.ConnectAsync();
        await AttackedServer.UpgradeAsync(peer, "permessage-deflate");
        Session session = await server.SessionAsync();
        using var end = new DeflateEnd();
        byte[] echo = Wire.Request(TestServer.Echo, 1, new byte[1000]);
        Assert.Equal(0, Used(server));

        await peer.SendAsync(AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(echo)));
        Assert.Equal(echo.Length, end.Inflate(await AttackedServer.ReadFrameAsync(peer, Binary)).Length);

        await Patience.UntilAsync(() => Used(server) == DeflaterMemory, "only the deflater counts");
        Assert.Equal((0, DeflaterMemory), (session.Connection.ReceiveMemory, session.Connection.SendMemory));
        peer.Reset();
        await server.CloseReasonAsync();
        Assert.Equal(0, Used(server));
        Assert.Equal((0, 0), (session.Connection.ReceiveMemory, session.Connection.SendMemory));
    }

    [Fact]
    public async Task Without_memory_for_it_messages_are_sent_as_they_are()
    {
        // Half of it has room for one deflater.
        await using TestServer server = await StartAsync(static options => options.MaxBufferedMegabytes = 1);
        List<int> firsts = [];
        List<RawPeer> peers = [];
        byte[] echo = Wire.Request(TestServer.Echo, 1, new byte[1000]);

        for (int i = 0; i < 3; i++)
        {
            RawPeer peer = await server.ConnectAsync();
            peers.Add(peer);
            await AttackedServer.UpgradeAsync(peer, "permessage-deflate");
            await peer.SendAsync(AttackedServer.Frame(Binary, Final, echo));
            firsts.Add((await AttackedServer.ReadFrameAsync(peer, Binary, mask: 0x0F)).First);
        }

        peers.ForEach(static peer => peer.Dispose());
        Assert.Equal([Final | Compressed | Binary, Final | Binary, Final | Binary], firsts);
    }

    [Fact]
    public void The_data_is_the_same_however_it_is_compressed_and_cut()
    {
        for (int seed = 1; seed <= 200; seed++)
        {
            var random = new Random(seed);
            byte[] expected = Body(random, random.Next(20_000));
            byte[] wire = Frames(random, expected);
            using var inflater = new WebSocketInflater(ArrayPool<byte>.Shared);
            var reader = new WebSocketReader(expectsMask: true, inflater);
            using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
            var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);
            int most = random.Next(2) == 0 ? int.MaxValue : 1;

            for (int at = 0; at < wire.Length || reader.IsTurnOver;)
            {
                int count = Math.Min(wire.Length - at, random.Next(1, seed % 3 == 0 ? 3 : 400));
                input.Write(wire.AsSpan(at, count));
                at += count;
                for (int before = -1; before != data.Ring.Length;)
                {
                    before = data.Ring.Length;
                    Assert.Equal(WebSocketProgress.Read, reader.Read(input, data, most));
                    reader.BeginTurn();
                }
            }

            Assert.True(expected.AsSpan().SequenceEqual(data.Ring.GetReadableSequence(0, data.Ring.Length).ToArray()), $"seed {seed}");
            Assert.True(input.IsEmpty);
            data.Ring.Dispose();
        }
    }

    [Fact]
    public void A_turn_inflates_a_megabyte()
    {
        using var end = new DeflateEnd();
        using var inflater = new WebSocketInflater(ArrayPool<byte>.Shared);
        var reader = new WebSocketReader(expectsMask: true, inflater);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 24, ArrayPool<byte>.Shared);
        input.Write(AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(new byte[10_000_000])));

        int turns = 0;
        for (; data.Ring.Length != 10_000_000; turns++)
        {
            int before = data.Ring.Length;
            while (!reader.IsTurnOver && data.Ring.Length != 10_000_000)
            {
                reader.Read(input, data, int.MaxValue);
            }

            Assert.InRange(data.Ring.Length - before, 0, (1024 + 64) * 1024);
            reader.BeginTurn();
        }

        Assert.InRange(turns, 9, 10);
        data.Ring.Dispose();
    }

    [Fact]
    public void Bytes_that_give_no_data_are_counted()
    {
        using var end = new DeflateEnd();
        using var inflater = new WebSocketInflater(ArrayPool<byte>.Shared);
        var reader = new WebSocketReader(expectsMask: true, inflater);
        using var input = new ArrayPoolCircularBuffer(1024, 1 << 20);
        var data = new ReceiveBuffer(1 << 20, ArrayPool<byte>.Shared);

        input.Write(AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(Random(1000))));
        reader.Read(input, data, int.MaxValue);
        Assert.InRange(reader.WithoutData.Bytes, 0, 10);
        Assert.Equal(0, reader.WithoutData.Frames);
        long before = reader.WithoutData.Bytes;

        // Stored blocks of no bytes.
        byte[] nothing = [.. Enumerable.Repeat((byte[])[0, 0, 0, 0xFF, 0xFF], 2000).SelectMany(static one => one), 0];
        input.Write(AttackedServer.Frame(Binary, Final | Compressed, nothing));
        reader.Read(input, data, int.MaxValue);
        Assert.Equal((1, before + nothing.Length), reader.WithoutData);
        Assert.Equal(1000, data.Ring.Length);
        data.Ring.Dispose();
    }

    private static Task<TestServer> StartAsync(Action<FastPortServerOptions>? configure = null) => TestServer.StartAsync(
        options: options =>
        {
            options.Endpoints[0] = "ws://127.0.0.1:0/game";
            options.WebSocket.Compression = true;
            configure?.Invoke(options);
        });

    private static long Used(TestServer server) => server.Server.ReadLoad().BufferedBytes;

    private static byte[] Random(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    // Random bytes, or text, which can be compressed.
    private static byte[] Body(Random random, int length)
    {
        byte[] bytes = new byte[length];
        random.NextBytes(bytes);
        if (random.Next(2) == 0)
        {
            byte[] words = Encoding.ASCII.GetBytes("the quick brown fox ");
            for (int i = 0; i < length; i++)
            {
                bytes[i] = words[(i + (bytes[i] >> 6)) % words.Length];
            }
        }

        return bytes;
    }

    // Messages of random lengths, compressed or not, in random fragments with Pings between them.
    private static byte[] Frames(Random random, byte[] data)
    {
        using var end = new DeflateEnd();
        List<byte> wire = [];
        for (int at = 0; at < data.Length;)
        {
            int count = Math.Min(data.Length - at, random.Next(3) == 0 ? random.Next(20_000) : random.Next(300));
            bool isCompressed = random.Next(3) != 0;
            byte[] message = isCompressed ? end.Deflate(data.AsSpan(at, count)) : data[at..(at + count)];
            at += count;
            int flags = isCompressed ? Compressed : 0;
            for (int sent = 0, opcode = Binary; sent < message.Length || opcode == Binary; flags = opcode = 0)
            {
                int part = Math.Min(message.Length - sent, random.Next(random.Next(2) == 0 ? 4 : 20_000));
                byte[] payload = message[sent..(sent + part)];
                sent += part;
                uint mask = (uint)random.Next();
                byte[] frame = AttackedServer.Frame(opcode, flags | (sent == message.Length ? Final : 0), payload);
                int size = frame.Length - part;
                BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(size - 4), mask);
                WebSocketMask.Copy(payload, frame.AsSpan(size), mask);
                wire.AddRange(frame);
                if (random.Next(3) == 0)
                {
                    wire.AddRange(AttackedServer.Frame(9, Final, [1, 2]));
                }
            }
        }

        return [.. wire];
    }

    private static async Task SendAsync(ClientWebSocket peer, ReadOnlyMemory<byte> bytes, WebSocketMessageFlags flags) =>
        await peer.SendAsync(bytes, WebSocketMessageType.Binary, flags, Patience.Token);

    private static async Task<byte[]> ReadAsync(ClientWebSocket peer, int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            read += (await peer.ReceiveAsync(bytes.AsMemory(read), Patience.Token)).Count;
        }

        return bytes;
    }
}
