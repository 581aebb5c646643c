using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>What the thread of a window waits for, such as in its Closing event, does not need that thread.</summary>
public sealed class ClientWindowThreadTests
{
    private static readonly NodeId Number = new(2, 1);

    [Theory]
    [InlineData(OpcUaSecurityPolicy.None)]
    [InlineData(OpcUaSecurityPolicy.Basic256Sha256)]
    public async Task Client_and_server_start_work_and_stop_while_it_waits(OpcUaSecurityPolicy policy)
    {
        using var directory = new TemporaryDirectory();
        await WindowThread.RunAsync(() =>
        {
            var server = new OpcUaServer(new OpcUaServerOptions
            {
                Endpoints = { "opc.tcp://127.0.0.1:0/test" },
                SecurityPolicies = [policy],
                Certificates = { Directory = directory["server"], UnsafeTrustAll = true },
            });
            server.AddressSpace.AddNamespace("urn:fastport:test");
            server.AddressSpace.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 0);
            Wait(server.StartAsync());
            string url = server.Endpoints[0].ToString();
            Wait(OpcUaClient.GetEndpointsAsync(url));
            OpcUaClient client = Wait(OpcUaClient.ConnectAsync(
                url,
                new OpcUaClientOptions
                {
                    SecurityPolicy = policy,
                    Certificates = { Directory = directory["client"], UnsafeTrustAll = true },
                }));
            Wait(client.ReadAsync([Number]).AsTask());
            Wait(client.BrowseAsync(AddressSpace.ObjectsFolder).AsTask());
            Wait(client.WriteAsync([new(Number, 1)]).AsTask());
            OpcUaSubscription subscription = Wait(client.SubscribeAsync().AsTask());
            IReadOnlyList<OpcUaMonitoredItem> items =
                Wait(subscription.AddItemsAsync([new MonitoredItemOptions(Number)]).AsTask());
            Wait(subscription.RemoveItemsAsync(items).AsTask());
            Wait(subscription.DisposeAsync().AsTask());
            Wait(client.DisposeAsync().AsTask());
            Wait(server.StopAsync());
            Wait(server.DisposeAsync().AsTask());
        });
    }

    private static void Wait(Task task) => task.GetAwaiter().GetResult();

    private static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();
}
