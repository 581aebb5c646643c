using FastPort.Connections;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>The encrypted bytes of a session, without its decryption.</summary>
public sealed class RecordStreamTests : IDisposable
{
    // Of TLS 1.3 with AES-GCM: the tag and the type.
    private const int Overhead = 17;
    private const int KeyUpdate = 5;
    private const int Most = 16 * 1024;

    private readonly ConnectionClock _clock = new();
    private readonly ArrayPoolCircularBuffer _burst = new(1024, 1024 * 1024);
    private readonly byte[] _room = new byte[32 * 1024];
    private readonly RecordStream _records;
    private readonly Queue<(int Length, int Data)> _written = new();

    public RecordStreamTests()
    {
        _records = new RecordStream(new FakeConnection(_clock), HandshakeWorkers.Clients);
        _records.BeginData(Overhead);
        _records.Offer(_burst);
    }

    public void Dispose()
    {
        _records.Dispose();
        _burst.Dispose();
        _clock.Dispose();
    }

    [Fact]
    public async Task Changes_of_keys_are_bounded_however_much_data_the_peer_sends()
    {
        int changes = 0;
        IOException failure = await Assert.ThrowsAsync<IOException>(async () =>
        {
            for (; changes < Most; changes++)
            {
                Write(content: 1000, data: 1000);
                Write(KeyUpdate, data: 0);
                await ReadAsync();
            }
        });

        Assert.Equal($"the peer sent more than {Most} bytes besides data in TLS records", failure.Message);

        // Where records begin to come alone, less than a change of keys may be counted.
        Assert.InRange(changes, Most / KeyUpdate, (Most / KeyUpdate) + 2);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    public async Task Data_is_not_bounded_in_whatever_pieces_it_comes(int records)
    {
        for (int i = 0; i < 20_000 / records; i++)
        {
            for (int j = 1; j <= records; j++)
            {
                Write(content: j, data: j);
            }

            await ReadAsync();
        }
    }

    [Fact]
    public async Task Padding_beside_data_is_not_bounded()
    {
        for (int i = 0; i < 1000; i++)
        {
            Write(content: 300, data: 1);
            Write(content: 300, data: 1);
            await ReadAsync();
        }
    }

    [Fact]
    public async Task Much_padding_in_one_read_is_no_offense_and_hides_no_changes_of_keys()
    {
        for (int i = 0; i < 31; i++)
        {
            Write(content: 1000, data: 100);
        }

        await ReadAsync();
        await ReadAsync();
        int changes = 0;
        await Assert.ThrowsAsync<IOException>(async () =>
        {
            for (; changes < Most; changes++)
            {
                Write(content: 1000, data: 100);
                Write(KeyUpdate, data: 0);
                await ReadAsync();
            }
        });
        Assert.InRange(changes, Most / KeyUpdate / 2, (Most / KeyUpdate) + 2);
    }

    [Fact]
    public async Task A_read_waits_when_the_turn_has_had_its_records()
    {
        for (int i = 0; i < 300; i++)
        {
            Write(content: 1, data: 1);
        }

        int first = await _records.ReadAsync(_room, TestContext.Current.CancellationToken);
        Task<int> second = _records.ReadAsync(_room, TestContext.Current.CancellationToken).AsTask();
        Assert.Equal((256 * (5 + 1 + Overhead), true, false), (first, _records.IsTurnOver, second.IsCompleted));

        _records.BeginTurn();

        Assert.Equal(44 * (5 + 1 + Overhead), await second);
    }

    // Adds a record to the burst; the data in it is not looked at here.
    private void Write(int content, int data)
    {
        int length = content + Overhead;
        _burst.Write([23, 3, 3, (byte)(length >> 8), (byte)length]);
        _burst.Write(new byte[length]);
        _written.Enqueue((5 + length, data));
    }

    // Reads the burst as the stream that decrypts does: after each read it gives the data of all records that have come whole.
    private async Task ReadAsync()
    {
        int partial = 0;
        while (!_burst.IsEmpty)
        {
            if (_records.IsTurnOver)
            {
                _records.BeginTurn();
            }

            partial += await _records.ReadAsync(_room, TestContext.Current.CancellationToken);
            while (_written.TryPeek(out (int Length, int Data) record) && partial >= record.Length)
            {
                _written.Dequeue();
                partial -= record.Length;
                _records.Decrypted(record.Data);
            }
        }
    }
}
