using System.Diagnostics;
using FastPort.Connections;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
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

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_client_that_sends_thousands_of_requests_before_it_reads_an_answer_gets_all_of_them(TransportKind transport)
    {
        const int Requests = 6000, LargeText = 5000;
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddVariable(AddressSpace.ObjectsFolder, First, "text", new string('x', LargeText)),
            options => (options.MaxMessageBytes, options.Transport) = (8192, transport));
        using RawSession session = await RawSession.OpenAsync(server);
        Connection served = session.Channel.ServedBy(server);
        var request = new ReadRequest { NodesToRead = [new ReadValueId { NodeId = First, AttributeId = (uint)AttributeId.Value }] };

        uint before = await session.SendAsync(request);
        await session.ReceiveAsync<ReadResponse>(before);

        // Far more answers than sockets take: the server stops to read.
        Task sending = Task.Run(async () =>
        {
            for (uint i = 1; i <= Requests; i++)
            {
                Assert.Equal(before + i, await session.SendAsync(request));
            }
        });
        await Patience.UntilAsync(() => sending.IsCompleted || served.PendingBytes > 1024 * 1024, "the server is full");
        for (uint id = before + 1; id <= before + Requests; id++)
        {
            (StatusCode status, ReadResponse response) = await session.ReceiveAsync<ReadResponse>(id);
            Assert.Equal(StatusCodes.Good, status);
            Assert.Equal(LargeText, Assert.Single(response.Results!).Value.Get<string>()!.Length);
        }

        await sending;
    }

    private static void AddVariable(AddressSpace space, NodeId id, Action read) => space.AddVariable<int>(
        AddressSpace.ObjectsFolder, id, $"{id}", () =>
        {
            read();
            return new DataValue(1);
        });
}
