using FastPort.Interop.Tests.Peers;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>Our client against node-opcua's server. One server for all: it takes seconds to start.</summary>
public sealed class NodeOpcUaServerTests
{
    [NodeFact]
    public async Task Our_client_browses_reads_writes_and_calls()
    {
        using var node = NodeProcess.Start("opcua/server.mjs");
        Started started = await node.ReadLineAsync<Started>();
        await using OpcUaClient client = await OpcUaClient.ConnectAsync($"opc.tcp://127.0.0.1:{started.Port}");
        NodeId Id(uint number) => new(started.Namespace, number);

        IReadOnlyList<ReferenceDescription> children = await client.BrowseAsync(Id(90_000));
        Assert.Equal(2001, children.Count);

        NodeId[] ids = [.. Enumerable.Range(1000, 2000).Select(i => Id((uint)i))];

        // Its server reads 500 and writes 150 at a time.
        DataValue[] values = await client.ReadAsync(ids);
        Assert.All(values.Index(), static v => Assert.Equal(
            v.Index < 1000 ? (object)v.Index : v.Index < 1800 ? v.Index / 2.0 : $"tag-value-{v.Index}", v.Item.Value.ToObject()));

        StatusCode[] statuses = await client.WriteAsync([.. ids.Take(400).Select(static id => KeyValuePair.Create(id, (Variant)(-5)))]);
        Assert.All(statuses, static s => Assert.Equal(StatusCodes.Good, s));
        Assert.Equal(-5, (await client.ReadAsync([ids[399]]))[0].Value.Get<int>());
        Assert.Equal(StatusCodes.BadTypeMismatch, Assert.Single(await client.WriteAsync([new(ids[0], "x")])));

        MethodCallResult sum = await client.CallAsync(Id(90_000), Id(90_001), [2, 40]);
        Assert.Equal((StatusCodes.Good, 42), (sum.Status, sum.Outputs[0].Get<int>()));

        await ConnectSecuredAsync($"opc.tcp://127.0.0.1:{started.Port}", ids[..10]);
    }

    private static async Task ConnectSecuredAsync(string url, NodeId[] ids)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        foreach (OpcUaSecurityPolicy policy in Enum.GetValues<OpcUaSecurityPolicy>()[1..])
        {
            foreach (MessageSecurityMode mode in (MessageSecurityMode[])[MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt])
            {
                var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode };
                options.Certificates.Directory = folder;
                options.Certificates.UnsafeTrustAll = true;
                await using OpcUaClient client = await OpcUaClient.ConnectAsync(url, options);
                Assert.All(await client.ReadAsync(ids), static v => Assert.Equal(StatusCodes.Good, v.Status));
            }
        }

        Directory.Delete(folder, recursive: true);
    }

    private sealed record Started(int Port, ushort Namespace);
}
