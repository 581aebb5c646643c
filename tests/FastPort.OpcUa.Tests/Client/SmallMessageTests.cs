using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>A client whose own <see cref="OpcUaClientOptions.MaxMessageBytes"/> is less than what it asks for needs.</summary>
public sealed class SmallMessageTests
{
    private const int Nodes = 100;

    private static readonly OpcUaClientOptions Small =
        new() { MaxMessageBytes = 64 * 1024, ReconnectDelay = TimeSpan.FromMilliseconds(1) };

    [Fact]
    public async Task Nodes_that_are_too_many_for_a_request_are_read_and_written_in_several()
    {
        const int Count = 10_000;
        await using TestServer server = await StartAsync();
        await using OpcUaClient client = await server.ConnectAsync(Small);

        DataValue[] values = await client.ReadAsync([.. Enumerable.Range(0, Count).Select(Id)]).InTimeAsync();
        StatusCode[] statuses = await client.WriteAsync(
            [.. Enumerable.Range(0, Count).Select(static i => KeyValuePair.Create(Id(i), (Variant)(i % Nodes)))]).InTimeAsync();

        Assert.Equal(Enumerable.Range(0, Count).Select(static i => i % Nodes), values.Select(static value => value.Value.Get<int>()));
        Assert.Equal(Enumerable.Repeat(StatusCodes.Good, Count), statuses);
    }

    /// <summary>They were added in smaller parts. Of the second number the request fits, and the answer does not.</summary>
    [Theory]
    [InlineData(4000)]
    [InlineData(3000)]
    public async Task After_a_restart_items_that_are_too_many_for_a_request_or_its_answer_come_back(int count)
    {
        const int Part = 500;
        using var port = new HeldPort();
        TestServer server = await StartAsync(port.Number);
        await using OpcUaClient client = await server.ConnectAsync(Small);
        await using OpcUaSubscription subscription = await client.SubscribeAsync();
        for (int i = 0; i < count; i += Part)
        {
            await subscription.AddItemsAsync([.. Enumerable.Range(i, Part).Select(static one => new MonitoredItemOptions(Id(one)))]);
        }

        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += recovery => back.TrySetResult(recovery);

        await server.DisposeAsync();
        await using TestServer next = await StartAsync(port.Number);
        Assert.Equal(SessionRecovery.Replaced, await back.Task.InTimeAsync());

        await Patience.UntilAsync(
            () => subscription.Items.Count(static item => item.Status.IsGood) == count, "the server has all items again");
    }

    private static NodeId Id(int i) => new(2, (uint)(i % Nodes) + 1);

    private static Task<TestServer> StartAsync(int port = 0) => TestServer.StartAsync(
        static space =>
        {
            for (int i = 0; i < Nodes; i++)
            {
                space.AddVariable(AddressSpace.ObjectsFolder, Id(i), $"Number{i}", i, writable: true);
            }
        },
        o => o.Endpoints[0] = $"opc.tcp://127.0.0.1:{port}/test");
}
