using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Reads and writes of numbers allocate nothing on the loop that serves them, without security.</summary>
public sealed class AllocationTests
{
    private const int Requests = 100;
    private const int Rounds = 20;

    private static readonly NodeId Meter = new(2, 1);
    private static readonly NodeId Number = new(2, 2);

    [Fact]
    public async Task Reads() => Assert.Equal(0, await MeasureAsync(static session =>
        session.CallAsync<ReadRequest, ReadResponse>(
            new ReadRequest { NodesToRead = [new ReadValueId { NodeId = Number, AttributeId = (uint)AttributeId.Value }] })));

    [Fact]
    public async Task Writes() => Assert.Equal(0, await MeasureAsync(static session =>
        session.CallAsync<WriteRequest, WriteResponse>(new WriteRequest
        {
            NodesToWrite = [new WriteValue { NodeId = Number, AttributeId = (uint)AttributeId.Value, Value = new DataValue(7) }],
        })));

    // Bytes that a round of requests has allocated on the loop. The callback of a variable runs there, and so reads the count. The least of
    // many rounds: others may use the loop meanwhile.
    private static async Task<long> MeasureAsync(Func<RawSession, Task> request)
    {
        long count = 0;
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddVariable<long>(AddressSpace.ObjectsFolder, Meter, "meter", () =>
            {
                Volatile.Write(ref count, GC.GetAllocatedBytesForCurrentThread());
                return new DataValue(count);
            });
            space.AddVariable(AddressSpace.ObjectsFolder, Number, "number", 5, writable: true);
        });
        using RawSession session = await RawSession.OpenAsync(server);
        long least = long.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            long before = await CountAsync();
            for (int i = 0; i < Requests; i++)
            {
                await request(session);
            }

            least = Math.Min(least, await CountAsync() - before);
        }

        return least;

        async Task<long> CountAsync()
        {
            await session.CallAsync<ReadRequest, ReadResponse>(
                new ReadRequest { NodesToRead = [new ReadValueId { NodeId = Meter, AttributeId = (uint)AttributeId.Value }] });
            return Volatile.Read(ref count);
        }
    }
}
