using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>Where what follows the await of a reply runs.</summary>
public sealed class ClientContinuationTests
{
    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public async Task An_await_continues_on_the_loop_only_where_the_options_say_so(bool onLoop, bool throughTheClient)
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint, RunContinuationsOnLoop = onLoop });
        await client.ConnectAsync().InTimeAsync();
        Session session = client.Session!;
        byte[] body = CountingServer.Body(1);

        // Asked for on the loop, so that the reply cannot come before it is awaited.
        var continued = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        session.Connection.Post(_ => _ = RequestAsync(), null);

        Assert.Equal(onLoop, await continued.Task.InTimeAsync());

        async Task RequestAsync()
        {
            await (throughTheClient
                ? client.RequestAsync(CountingServer.InlineEcho, body)
                : session.RequestAsync(CountingServer.InlineEcho, body));
            continued.SetResult(session.Connection.IsOnLoop);
        }
    }

    [Fact]
    public async Task Who_cancels_a_request_does_not_run_what_follows_its_await()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint, RunContinuationsOnLoop = true });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        using var cancel = new CancellationTokenSource();
        Task<byte[]> request = client.RequestAsync(CountingServer.InlineEcho, new byte[3], cancellationToken: cancel.Token);
        await peer.ReadAsync();
        int canceler = 0;
        Task<int> continued = request.ContinueWith(
            static _ => Environment.CurrentManagedThreadId,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);

        var thread = new Thread(() =>
        {
            canceler = Environment.CurrentManagedThreadId;
            cancel.Cancel();
        });
        thread.Start();
        thread.Join();

        Assert.NotEqual(canceler, await continued.InTimeAsync());
    }
}
