using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Reading and writing numbers allocates nothing on the server's side.</summary>
public sealed class AllocationTests
{
    private const int WarmUp = 300;
    private const int Measured = 1000;
    private static readonly NodeId Probe = new(2, 1);
    private static readonly NodeId Number = new(2, 2);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_request_for_numbers_allocates_nothing(bool writes)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only an event loop is one thread.");

        // Called on the loop, once for each read: what the loop's thread has allocated so far.
        long allocated = 0;
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddVariable<double>(AddressSpace.ObjectsFolder, Probe, "probe", () =>
            {
                allocated = GC.GetAllocatedBytesForCurrentThread();
                return new DataValue(1.0);
            });
            space.AddVariable(AddressSpace.ObjectsFolder, Number, "number", 1, writable: true);
        });
        using RawSession session = await RawSession.OpenAsync(server);
        var read = new ReadRequest
        {
            TimestampsToReturn = TimestampsToReturn.Both,
            NodesToRead = [.. new[] { Probe, Number }.Select(static id => new ReadValueId { NodeId = id, AttributeId = 13 })],
        };
        var write = new WriteRequest
        {
            NodesToWrite = [new WriteValue { NodeId = Number, AttributeId = 13, Value = new DataValue(7) }],
        };

        async Task<long> RunAsync(int requests)
        {
            for (int i = 0; i < requests; i++)
            {
                if (writes)
                {
                    await session.CallAsync<WriteRequest, WriteResponse>(write);
                }

                await session.CallAsync<ReadRequest, ReadResponse>(read);
            }

            return Volatile.Read(ref allocated);
        }

        long before = await RunAsync(WarmUp);
        long after = await RunAsync(Measured);

        // Less than a byte for each: a rare event of the runtime may be among them.
        Assert.InRange(after - before, 0, Measured - 1);
    }
}
