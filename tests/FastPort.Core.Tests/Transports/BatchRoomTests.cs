using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Batches for which there is no room.</summary>
public sealed class BatchRoomTests
{
    private const int Bound = 256 * 1024;
    private static readonly byte[] Piece = Wire.Bytes(16 * 1024);

    [Theory, EveryLink]
    public async Task A_batch_without_room_is_refused_and_stays_as_it_was(string link)
    {
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = Bound });
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(takesLittle: true);
        Connection connection = server.Connection;
        ArrayPoolCircularBuffer batch = connection.BeginBatch();
        long appended = 0;
        int refused = 0;
        while (refused < 3)
        {
            batch.Consume(batch.Length);
            batch.Write(Piece);
            if (TryAppend(connection, ref batch))
            {
                appended += Piece.Length;
                refused = 0;
            }
            else
            {
                Assert.Equal(Piece, System.Buffers.BuffersExtensions.ToArray(batch.GetReadableSequence(0, batch.Length)));
                await Patience.UntilSteadyAsync(() => connection.BytesSent, "the link took what it takes");
                refused++;
            }

            connection.Flush();
            Assert.InRange(connection.PendingBytes, 0, Bound);
        }

        byte[] received = await raw.ReadAsync((int)appended);
        await server.DrainedAsync(0).InTimeAsync();
        Assert.True(TryAppend(connection, ref batch));
        connection.Flush();
        connection.EndBatch(batch);
        Assert.Equal(Piece, await raw.ReadAsync(Piece.Length));
        for (int at = 0; at < received.Length; at += Piece.Length)
        {
            Assert.True(received.AsSpan(at, Piece.Length).SequenceEqual(Piece));
        }
    }

    private static bool TryAppend(Connection connection, ref ArrayPoolCircularBuffer batch)
    {
        ArrayPoolCircularBuffer? ring = connection.BeginWrite();
        Assert.NotNull(ring);
        try
        {
            return connection.TryAppendBatch(ring, ref batch);
        }
        finally
        {
            connection.EndWrite();
        }
    }
}
