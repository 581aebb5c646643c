using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>node-opcua's client against our server with the nodes of samples/OpcUaServer.</summary>
public sealed class NodeOpcUaClientTests : IAsyncLifetime
{
    private PlantServer _server = null!;

    public async ValueTask InitializeAsync() => _server = await PlantServer.StartAsync();

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [NodeFact]
    public async Task Its_client_asks_for_endpoints_and_servers()
    {
        Endpoints seen = await PlayAsync<Endpoints>("endpoints");

        Assert.Equal(
            ["None", "Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"],
            seen.Policies.Distinct().Select(static uri => uri[(uri.IndexOf('#', StringComparison.Ordinal) + 1)..]));
        Assert.Equal(7, seen.Urls.Length);
        Assert.Equal([_server.Url], seen.Urls.Distinct());
        Assert.Equal([PlantServer.ApplicationUri], seen.Servers);
    }

    [NodeFact]
    public async Task Its_client_browses_the_whole_tree()
    {
        Tree seen = await PlayAsync<Tree>("browse");

        Assert.Equal(202, seen.Plant);
        Assert.InRange(seen.Nodes, 2320, 2500);
    }

    [NodeFact]
    public async Task Its_client_reads_2000_values()
    {
        Values seen = await PlayAsync<Values>("read");

        Assert.Equal((2000, 2000), (seen.Good, seen.Timestamps));
        Assert.Equal((50 * 199 * 200 / 2) + (200 * 10), seen.Int32);
        Assert.Equal(200 * 83.0, seen.Double, 6);
        Assert.Equal(["machine-000", "machine-001"], seen.Strings);
    }

    [NodeTheory]
    [InlineData("Basic256Sha256", "Sign")]
    [InlineData("Basic256Sha256", "SignAndEncrypt")]
    [InlineData("Aes128_Sha256_RsaOaep", "Sign")]
    [InlineData("Aes128_Sha256_RsaOaep", "SignAndEncrypt")]
    [InlineData("Aes256_Sha256_RsaPss", "Sign")]
    [InlineData("Aes256_Sha256_RsaPss", "SignAndEncrypt")]
    public async Task Its_client_connects_with_every_policy_and_mode(string policy, string mode)
    {
        Values seen = await PlayAsync<Values>("read", policy, mode);

        Assert.Equal(2000, seen.Good);
    }

    [NodeTheory]
    [InlineData("None", "None")]
    [InlineData("Basic256Sha256", "SignAndEncrypt")]
    [InlineData("Aes256_Sha256_RsaPss", "Sign")]
    public async Task Its_client_sends_a_user_with_an_encrypted_password(string policy, string mode)
    {
        Values seen = await PlayAsync<Values>("read", policy, mode, "anna", "secret");
        Assert.Equal(2000, seen.Good);

        InvalidOperationException refused = await Assert.ThrowsAsync<InvalidOperationException>(
            () => PlayAsync<Values>("read", policy, mode, "anna", "wrong"));
        Assert.Contains("BadUserAccessDenied", refused.Message, StringComparison.Ordinal);
    }

    [NodeFact]
    public async Task Its_client_understands_the_status_and_index_ranges()
    {
        Status seen = await PlayAsync<Status>("status");

        Assert.Equal((0, true), (seen.State, seen.Started));
        Assert.Equal(("FastPort OPC UA server", "urn:fastport:opcua"), (seen.Product, seen.Uri));
        Assert.Equal(["http://opcfoundation.org/UA/", PlantServer.ApplicationUri], seen.Namespaces);
        Assert.Equal(("mac", "BadIndexRangeNoData"), (seen.Text, seen.Nothing));
        Assert.Equal([10_000, 10_000, 1000, 10], seen.Limits);
    }

    [NodeFact]
    public async Task Its_client_writes_200_values()
    {
        Writes seen = await PlayAsync<Writes>("write");

        Assert.Equal((200, -199 * 200 / 2, "BadTypeMismatch"), (seen.Good, seen.Sum, seen.WrongType));
    }

    [NodeFact]
    public async Task Its_client_calls_methods()
    {
        Calls seen = await PlayAsync<Calls>("call");

        Assert.Equal(("Good", "Good", 1_000_000), (seen.Stored, seen.Loaded, seen.Bytes));
        Assert.Equal(["Recipe"], seen.Inputs);
    }

    [NodeFact]
    public async Task Its_client_subscribes_to_changes()
    {
        Changes seen = await PlayAsync<Changes>("subscribe");

        Assert.Equal([0, 10, 20, 30], seen.Ints);
        Assert.Equal([20, 22, 24], seen.Doubles);
    }

    private async Task<T> PlayAsync<T>(string scenario, params string[] security)
    {
        using var node = NodeProcess.Start("opcua/client.mjs", [scenario, _server.Url, .. security]);
        return await node.FinishAsync<T>();
    }

    private sealed record Endpoints(string[] Policies, string[] Urls, string[] Servers);

    private sealed record Tree(int Nodes, int Plant);

    private sealed record Values(int Good, int Int32, double Double, string[] Strings, int Timestamps);

    private sealed record Status(
        int State, bool Started, string Product, string Uri, string[] Namespaces, string Text, string Nothing, int[] Limits);

    private sealed record Writes(int Good, int Sum, string WrongType);

    private sealed record Changes(int[] Ints, double[] Doubles);

    private sealed record Calls(string Stored, string Loaded, int Bytes, string[] Inputs);
}
