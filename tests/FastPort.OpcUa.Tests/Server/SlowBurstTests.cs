using System.Diagnostics;
using FastPort.Core.Tests.Support;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Responses of a burst whose requests take their time.</summary>
public sealed class SlowBurstTests
{
    private static readonly NodeId First = new(2, 1);
    private static readonly NodeId Slow = new(2, 2);
    private static readonly NodeId Last = new(2, 3);

    [Fact]
    public async Task First_responses_leave_while_the_rest_of_the_burst_is_handled()
    {
        using var asked = new ManualResetEventSlim();
        using var answered = new ManualResetEventSlim();
        bool inTime = false;
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            AddVariable(space, First, () => asked.Wait(Patience.Limit));
            AddVariable(space, Slow, static () =>
            {
                long begun = Stopwatch.GetTimestamp();
                SpinWait.SpinUntil(() => Stopwatch.GetElapsedTime(begun) > TimeSpan.FromMicroseconds(50));
            });
            AddVariable(space, Last, () => inTime = answered.Wait(Patience.Limit));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        // The server is at the first while the others arrive.
        Task<DataValue[]> first = client.ReadAsync([First]).AsTask();
        Task<DataValue[]> slow = client.ReadAsync([Slow]).AsTask();
        Task<DataValue[]> last = client.ReadAsync([Last]).AsTask();
        asked.Set();
        await first;
        await slow;
        answered.Set();
        await last;

        Assert.True(inTime);
    }

    private static void AddVariable(AddressSpace space, NodeId id, Action read) => space.AddVariable<int>(
        AddressSpace.ObjectsFolder, id, $"{id}", () =>
        {
            read();
            return new DataValue(1);
        });
}
