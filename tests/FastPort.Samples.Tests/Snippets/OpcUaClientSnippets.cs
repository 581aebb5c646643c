using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>OPC UA client code shown in docs/opc-ua-client.md and docs/opc-ua-security.md.</summary>
internal static class OpcUaClientSnippets
{
    // docs: read
    public static async Task<double> ReadPressureAsync(string endpoint)
    {
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(endpoint);
        NodeId pressure = client.Namespaces.MakeId("urn:example:boiler", "Pressure");
        DataValue[] values = await client.ReadAsync([pressure]);
        return values[0].Status.IsGood ? values[0].Value.Get<double>() : double.NaN;
    }

    // docs: end

    // docs: secured
    public static Task<OpcUaClient> ConnectSecuredAsync(string endpoint, string certificates)
    {
        var options = new OpcUaClientOptions
        {
            SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256,
            SecurityMode = MessageSecurityMode.SignAndEncrypt,
            UserName = "ann",
            Password = "secret",
        };
        options.Certificates.Directory = certificates;
        return OpcUaClient.ConnectAsync(endpoint, options);
    }

    // docs: end

    // docs: write
    public static async Task<double> SetAndVentAsync(OpcUaClient client, double setPoint, double bar)
    {
        NodeId Id(string name) => client.Namespaces.MakeId("urn:example:boiler", name);
        StatusCode[] written = await client.WriteAsync([new(Id("SetPoint"), setPoint)]);
        if (written[0].IsBad)
        {
            throw new InvalidOperationException($"The set point was refused: {written[0]}.");
        }

        (StatusCode status, IReadOnlyList<Variant> outputs) = await client.CallAsync(Id("Boiler"), Id("Vent"), [bar]);
        return status.IsGood ? outputs[0].Get<double>() : double.NaN;
    }

    // docs: end

    // docs: watch
    public static async Task WatchAsync(OpcUaClient client, NodeId node, Action<DataValue> changed, CancellationToken cancellationToken)
    {
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(250) }, cancellationToken);
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [new MonitoredItemOptions(node) { SamplingInterval = TimeSpan.Zero, QueueSize = 100, Deadband = Deadband.Absolute(0.5) }],
            cancellationToken);
        if (items[0].Status.IsBad)
        {
            throw new InvalidOperationException($"{node} cannot be monitored: {items[0].Status}.");
        }

        await foreach (DataChange change in subscription.Changes.ReadAllAsync(cancellationToken))
        {
            changed(change.Value);
        }
    }

    // docs: end

    // docs: hosted-client
    public static void AddRecorder(IServiceCollection services, IConfiguration configuration)
    {
        services.AddOpcUaClient(configuration).Configure(options => options.RetryConnect = true);
        services.AddHostedService<Recorder>();
    }

    internal sealed class Recorder(OpcUaClient client, Action<DataValue> record) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            // Waits for the server: before the first session there are no namespaces.
            await client.ReadAsync([new NodeId(0, 2259)], stoppingToken);
            await WatchAsync(client, client.Namespaces.MakeId("urn:example:boiler", "SetPoint"), record, stoppingToken);
        }
    }

    // docs: end
}
