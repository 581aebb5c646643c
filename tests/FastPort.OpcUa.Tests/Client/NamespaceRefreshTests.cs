using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>A server that gets namespaces while it runs.</summary>
public sealed class NamespaceRefreshTests
{
    [Fact]
    public async Task Two_that_look_for_new_namespaces_at_once_leave_the_latest_ones()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync();
        var mayAnswer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<ReadRequest>(async call =>
        {
            await mayAnswer.Task.InTimeAsync();
            server.Namespaces = [.. server.Namespaces, $"urn:{server.Namespaces.Length}"];
            await call.ReplyAsync(new ReadResponse { Results = [new DataValue(Variant.FromArray(server.Namespaces))] });
        });

        Task first = client.RefreshNamespacesAsync().AsTask();
        Task second = client.RefreshNamespacesAsync().AsTask();
        mayAnswer.SetResult();
        await Task.WhenAll(first, second).InTimeAsync();

        Assert.Equal(server.Namespaces, client.Namespaces.Uris);
        await client.RefreshNamespacesAsync();
        Assert.Equal(server.Namespaces, client.Namespaces.Uris);
    }
}
