using System.Buffers;
using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>Messages for a peer that does not read: each is written as a whole, or not at all.</summary>
public sealed class ChunkWriterTests
{
    private const int Most = 4 * 1024 * 1024;

    [Theory]
    [InlineData(TransportKind.Auto, false)]
    [InlineData(TransportKind.Auto, true)]
    [InlineData(TransportKind.Sockets, false)]
    [InlineData(TransportKind.Sockets, true)]
    public async Task A_message_waits_as_a_whole_where_there_is_room_and_bytes_that_wait_count_once(TransportKind transport, bool signs)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var clock = new ConnectionClock(TimeProvider.System);
        Connection connection = await TransportCollection.CreateShared(transport)
            .CreateConnector(
                Endpoint.Parse($"tcp://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}"),
                new ConnectionSettings { Clock = clock, Logger = NullLogger.Instance, MaxSendBytes = Most })
            .ConnectAsync(Patience.Token);
        using TcpClient peer = await listener.AcceptTcpClientAsync(Patience.Token);
        connection.Start(new Silent());
        var writer = new ChunkWriter(connection, Most);
        writer.SetLimits(new ChannelLimits(ChannelLimits.MinChunkBytes, 0, 0, 0));
        ChunkSecurity security = signs
            ? new SymmetricSecurity(MessageSecurityMode.Sign, ChannelKeys.Derive([1], [2], 32), ChannelKeys.Derive([2], [1], 32))
            : ChunkSecurity.None;
        writer.SetToken(1, new ChannelToken(1, security, TimeSpan.Zero, TimeSpan.FromHours(1)));
        Dictionary<uint, int> written = [];

        // Sockets take some of it.
        while (connection.PendingBytes < 600_000)
        {
            Assert.Equal(StatusCodes.Good, Write(100_000));
            await Patience.UntilSteadyAsync(() => connection.PendingBytes, "the sockets are full");
        }

        // With twice the bytes that wait there is room for a part of it; the next one finds room only if they count once.
        Assert.Equal(StatusCodes.Good, Write(2_000_000));
        Assert.Equal(StatusCodes.Good, Write(1_000_000));
        Assert.Equal(StatusCodes.BadTcpNotEnoughResources, Write(1_000_000));

        // This one never finds room.
        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, Write(Most));

        Dictionary<uint, int> read = [];
        for (int messages = 0; messages < written.Count;)
        {
            byte[] header = new byte[24];
            await peer.GetStream().ReadExactlyAsync(header, Patience.Token);
            int size = BinaryPrimitives.ReadInt32LittleEndian(header.AsSpan(4));
            await peer.GetStream().ReadExactlyAsync(new byte[size - header.Length], Patience.Token);
            uint id = BinaryPrimitives.ReadUInt32LittleEndian(header.AsSpan(20));
            read[id] = read.GetValueOrDefault(id) + size - header.Length - (signs ? 32 : 0);
            messages += BinaryPrimitives.ReadUInt32LittleEndian(header) == MessageType.Message ? 1 : 0;
        }

        Assert.Equal(written, read);
        connection.Abort(CloseReason.LocalClosed);
        await connection.Closed.InTimeAsync();

        StatusCode Write(int bytes)
        {
            var message = new MessageBuffer(ArrayPool<byte>.Shared);
            message.Write(new byte[bytes]);
            uint id = (uint)written.Count + 1;
            StatusCode status = writer.Write(MessageType.Message, id, ref message);
            connection.Flush();
            if (status.IsGood)
            {
                written.Add(id, bytes);
            }

            message.Dispose();
            return status;
        }
    }

    private sealed class Silent : IConnectionProtocol
    {
        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input) => ReceiveOutcome.Continue;

        public void OnInputEnded(bool truncated)
        {
        }

        public void OnClosed(CloseReason reason)
        {
        }
    }
}
