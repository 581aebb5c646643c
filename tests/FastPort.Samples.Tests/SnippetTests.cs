using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Threading.Channels;
using FastPort.Connections;
using FastPort.Protocol;
using FastPort.Samples.Tests.Snippets;
using Google.Protobuf;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Spelling;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>The snippets shown in the pages of docs do what these pages say.</summary>
public sealed class SnippetTests
{
    private static readonly byte[] Numbers = [1, 2, 250];

    [Fact]
    public async Task Raw_handlers_answer()
    {
        await using FastPortServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);

        Assert.Equal(253u, BitConverter.ToUInt32(await client.RequestAsync(HandlerSnippets.Sum, Numbers)));
        Assert.Equal([250, 2, 1], await client.RequestAsync(HandlerSnippets.Reverse, Numbers));
    }

    [Fact]
    public async Task Typed_handlers_answer_and_refuse()
    {
        await using FastPortServer server = await StartAsync();
        await using FastPortClient client = await ConnectAsync(server);
        var hello = new Echo { Payload = ByteString.CopyFromUtf8("hello") };

        Assert.Equal("hello", await ClientSnippets.AskAsync(server.Endpoints[0].ToString(), "hello"));
        Assert.Equal(hello, await client.RequestAsync(HandlerSnippets.Wait, hello, Echo.Parser));
        Assert.Equal("hello", await ClientSnippets.TryAskAsync(client, hello, CancellationToken.None));
        Assert.Equal("the server said MalformedBody", await ClientSnippets.TryAskAsync(client, new Echo(), CancellationToken.None));
    }

    [Fact]
    public async Task Streams_are_answered()
    {
        await using FastPortServer server = await StartAsync(new MessageHandlers().MapService(new SpellerService()));
        await using FastPortClient client = await ConnectAsync(server);

        Assert.Equal(5, await StreamSnippets.SpellAndCountAsync(new SpellerClient(client), "hello"));
    }

    [Fact]
    public async Task Options_of_a_protocol_are_read_and_checked_like_those_of_its_server()
    {
        using IHost wrong = HostOf("Lines:Prompt", new string('>', 17));
        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => wrong.StartAsync());
        Assert.StartsWith("Lines:Prompt is too long", Assert.Single(e.Failures), StringComparison.Ordinal);

        using IHost unknown = HostOf("ConnectionServer:Nothing", "1");
        e = await Assert.ThrowsAsync<OptionsValidationException>(() => unknown.StartAsync());
        Assert.StartsWith("ConnectionServer:Nothing is not a known key", Assert.Single(e.Failures), StringComparison.Ordinal);

        using IHost good = HostOf("Lines:Prompt", "* ");
        await good.StartAsync();
        using var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", good.Services.GetRequiredService<ConnectionServer>().Endpoints[0].Port);
        await client.GetStream().WriteAsync("hello\n"u8.ToArray());
        using var reader = new StreamReader(client.GetStream());
        Assert.Equal("* HELLO", await reader.ReadLineAsync());
        await good.StopAsync();

        static IHost HostOf(string key, string value)
        {
            HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
            builder.Configuration["ConnectionServer:Endpoints:0"] = "tcp://127.0.0.1:0";
            builder.Configuration[key] = value;
            OptionsSnippets.Add(builder.Services, builder.Configuration);
            return builder.Build();
        }
    }

    [Fact]
    public async Task Hooks_let_in_and_forbid()
    {
        var tokens = new Dictionary<string, string>(StringComparer.Ordinal) { ["t1"] = "admin", ["t2"] = "guest" };
        await using FastPortServer server = ComponentSnippets.Server(Options(), Handlers(), tokens);
        await server.StartAsync();
        await using FastPortClient admin = await ConnectAsync(server, "t1");
        await using FastPortClient guest = await ConnectAsync(server, "t2");

        Assert.Equal([250, 2, 1], await admin.RequestAsync(HandlerSnippets.Reverse, Numbers));
        Assert.Equal(ErrorCode.Forbidden, await CodeAsync(() => guest.RequestAsync(HandlerSnippets.Reverse, Numbers)));
        Assert.Equal(4, (await guest.RequestAsync(HandlerSnippets.Sum, Numbers)).Length);
        Assert.Equal(ErrorCode.Unauthenticated, await CodeAsync(() => ConnectAsync(server, "t3")));
    }

    [Fact]
    public async Task A_subscription_in_Connected_comes_before_pushes()
    {
        var pushed = Channel.CreateUnbounded<string>();
        var handlers = new MessageHandlers();
        handlers.MapInline(0x1011, Echo.Parser, (echo, session) => { session.TrySend(0x1010, echo); });
        await using var server = new FastPortServer(Options(), handlers);
        await server.StartAsync();
        await using FastPortClient client = ClientSnippets.WithPushes(server.Endpoints[0].ToString(), text => pushed.Writer.TryWrite(text));

        await client.ConnectAsync();

        Assert.Equal("subscribe", await pushed.Reader.ReadAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(30)));
    }

    [Fact]
    public async Task Members_tell_each_other_things_and_the_server_tells_them()
    {
        var shown = Channel.CreateUnbounded<string>();
        var log = Channel.CreateUnbounded<string>();
        FastPortServerOptions options = Options();
        options.Routing.Relay = options.Routing.Topics = true;
        await using var server = new FastPortServer(options, new MessageHandlers());
        RoutingSnippets.Watch(server, text => log.Writer.TryWrite(text));
        await server.StartAsync();
        string endpoint = server.Endpoints[0].ToString();
        await using FastPortClient ann = await RoutingSnippets.JoinAsync(endpoint, "ann", _ => { });
        Assert.StartsWith("ann is here", await NextAsync(log), StringComparison.Ordinal);
        await using FastPortClient bob = await RoutingSnippets.JoinAsync(endpoint, "bob", text => shown.Writer.TryWrite(text));
        Assert.StartsWith("bob is here", await NextAsync(log), StringComparison.Ordinal);

        Assert.True(await RoutingSnippets.TellAsync(ann, "bob", "hello"));
        Assert.Equal("ann: hello", await NextAsync(shown));
        Assert.False(await RoutingSnippets.TellAsync(ann, "carl", "hello"));
        Assert.Equal(2, await RoutingSnippets.AnnounceAsync(ann, "rain"));
        Assert.Equal("news/today: rain", await NextAsync(shown));
        Assert.Equal(SendStatus.Queued, RoutingSnippets.Alarm(server, "bob", new Echo()));
        Assert.Equal(SendStatus.NotFound, RoutingSnippets.Alarm(server, "carl", new Echo()));
        Assert.True(RoutingSnippets.SendHome(server, "bob"));
        Assert.Equal("bob is gone: LocalClosed", await NextAsync(log));

        static Task<string> NextAsync(Channel<string> channel) => channel.Reader.ReadAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(30));
    }

    [Fact]
    public async Task A_program_reads_a_topic_in_a_loop()
    {
        var shown = Channel.CreateUnbounded<string>();
        FastPortServerOptions options = Options();
        options.Routing.Topics = true;
        await using var server = new FastPortServer(options, new MessageHandlers());
        await server.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() });
        await client.ConnectAsync();
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task following = RoutingSnippets.FollowAsync(
            client, text => shown.Writer.TryWrite(text), subscribed.SetResult, CancellationToken.None);
        await subscribed.Task.WaitAsync(TimeSpan.FromSeconds(30));

        Assert.Equal(1, await RoutingSnippets.AnnounceAsync(client, "rain"));
        Assert.Equal(1, await client.PublishAsync("news/last", 1, new Echo()));

        await following.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Equal(0, await RoutingSnippets.AnnounceAsync(client, "sun"));
        Assert.True(shown.Writer.TryComplete());
        Assert.Equal(["news/today: rain"], await shown.Reader.ReadAllAsync().ToArrayAsync());
    }

    [Fact]
    public async Task A_router_links_two_servers()
    {
        await using FastPortServer far = await StartAsync();
        await using var near = new FastPortServer(Options(), new MessageHandlers(), RoutingSnippets.LinkedTo(() => far.Routing));
        await near.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = far.Endpoints[0].ToString(),
            RoutingId = "bob",
        });
        await client.ConnectAsync();

        Assert.Equal(SendStatus.Queued, RoutingSnippets.Alarm(near, "bob", new Echo()));
        Assert.Equal(SendStatus.NotFound, RoutingSnippets.Alarm(near, "carl", new Echo()));
    }

    [Fact]
    public async Task Lines_come_back_through_pipes()
    {
        await using ConnectionServer server = PipeSnippets.ServeLines(
            new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"] }, NullLogger.Instance);
        await server.StartAsync();
        using var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);
        await using NetworkStream stream = client.GetStream();
        using var reader = new StreamReader(stream);

        await stream.WriteAsync("one\ntwo\nhalf a"u8.ToArray());
        Assert.Equal("one", await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(30)));
        Assert.Equal("two", await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(30)));
        await stream.WriteAsync(" line\n"u8.ToArray());
        Assert.Equal("half a line", await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(30)));
        client.Client.Shutdown(SocketShutdown.Send);
        Assert.Null(await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(30)));
    }

    [Fact]
    public async Task Lent_fields_are_copied_where_they_are_kept()
    {
        var latest = new ConcurrentDictionary<long, ByteString>();
        MessageHandlers handlers = Handlers();
        HandlerSnippets.MapBorrowed(handlers, latest);
        await using FastPortServer server = await StartAsync(handlers);
        await using FastPortClient client = await ConnectAsync(server);
        var hello = new Echo { Payload = ByteString.CopyFromUtf8("hello") };

        Assert.Equal(hello, await client.RequestAsync(HandlerSnippets.Keep, hello, Echo.Parser));
        await client.RequestAsync(HandlerSnippets.Reverse, Numbers);
        Assert.Equal(hello.Payload, Assert.Single(latest.Values));
    }

    private static async Task<FastPortServer> StartAsync(MessageHandlers? handlers = null)
    {
        var server = new FastPortServer(Options(), handlers ?? Handlers());
        await server.StartAsync();
        return server;
    }

    private static FastPortServerOptions Options() => new() { Endpoints = { "tcp://127.0.0.1:0" } };

    private static MessageHandlers Handlers()
    {
        var handlers = new MessageHandlers();
        HandlerSnippets.MapTyped(handlers);
        HandlerSnippets.MapRaw(handlers);
        return handlers;
    }

    private static async Task<FastPortClient> ConnectAsync(FastPortServer server, string token = "")
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString(), Token = token });
        await client.ConnectAsync();
        return client;
    }

    private static async Task<ErrorCode> CodeAsync(Func<Task> action) => (await Assert.ThrowsAsync<RequestFailedException>(action)).Code;
}
