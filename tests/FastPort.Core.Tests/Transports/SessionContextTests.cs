using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>
/// Handlers, hooks and events of servers and clients have no execution context over any link: nothing of another session, of the message
/// before, or of who has started or connected. A caller keeps its own.
/// </summary>
public sealed class SessionContextTests : IDisposable
{
    private const ushort Inline = 0x2001;
    private const ushort Queued = 0x2002;
    private const ushort OnLoop = 0x2003;
    private const ushort Push = 0x2004;

    private readonly TemporaryDirectory _directory = new();
    private readonly ContextProbe _probe = new();

    public void Dispose() => _directory.Dispose();

    [Theory, EveryLink]
    public async Task No_handler_hook_or_event_sees_what_another_one_or_a_caller_has_left(string link)
    {
        _probe.Leave("the starter");
        await using TestServer server = await StartAsync(link);
        foreach (string id in (string[])["a", "b"])
        {
            await using FastPortClient client = Client(link, server, id);
            await client.ConnectAsync(Patience.Token);
            await client.SubscribeAsync("news", (scoped in RoutedMessage _) => _probe.Visit("client's topic"));
            await client.SubscribeAsync("news/", (scoped in RoutedMessage _) => _probe.Visit("client's longer topic"));

            // One burst: some of them are handled one right after the other.
            using (client.Session!.DeferFlush())
            {
                foreach (ushort type in (ushort[])[Inline, Inline, Queued, Inline, OnLoop, Queued])
                {
                    Assert.Equal(SendStatus.Queued, client.Session.TrySend(type, [1]));
                }
            }

            _probe.Mark = $"caller {id}";
            Assert.Equal(0, await client.RequestAsync(
                Inline, default(EmptyBody), (scoped in InboundReply reply) =>
                {
                    _probe.Visit("reader");
                    return (int)reply.Body.Length;
                }));
            Assert.Equal($"caller {id}", _probe.Mark);
            await client.RequestAsync(Queued, new byte[3]);
            await client.RequestAsync(OnLoop, new byte[3]);
            Assert.Equal($"caller {id}", _probe.Mark);
            await client.RelayAsync(id, 7, new byte[3]);
            await client.PublishAsync("news/today", 7, new byte[3]);
            Session session = server.Opened[^1];
            Assert.Equal(SendStatus.Queued, session.TrySend(Push, [1]));
            Assert.Equal(SendStatus.Queued, session.TrySend(Push, [2]));
            Assert.Equal(
                SendStatus.Queued, session.TryRequest(
                    Push, default(EmptyBody), new Pending(_probe), timing: false, TimeSpan.Zero, out uint _));
            Assert.Equal(
                SendStatus.Queued, session.TryRequest(
                    Push, default(EmptyBody), new Pending(_probe), timing: false, TimeSpan.Zero, out uint canceled));
            session.Cancel(canceled);
            await _probe.ExpectNoLeaksAsync("push", "reply", "client's relay", "client's topic", "client's longer topic");
            Assert.Equal($"caller {id}", _probe.Mark);
        }

        await _probe.ExpectNoLeaksAsync(
            "authenticator", "authorizer", "inline", "queued", "on loop", "opened", "identified", "taken", "lost", "closed", "reader",
            "token", "connected", "disconnected", "push", "reply", "client's relay", "client's topic", "client's longer topic");
    }

    private FastPortClient Client(string link, TestServer server, string id)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = server.Endpoint.ToString(),
            RoutingId = id,
            TokenProvider = _ =>
            {
                _probe.Visit("token");
                return new ValueTask<string>("secret");
            },
        };
        MessageHandlers handlers = new MessageHandlers().MapInline(Push, (ref InlineRequest _) => _probe.Visit("push"));
        var client = new FastPortClient(options, handlers, transport: Links.Get(link).CreateTransport());
        client.Connected += _ => _probe.Visit("connected");
        client.Disconnected += (_, _) => _probe.Visit("disconnected");
        client.OnRelayed(7, (scoped in RoutedMessage _) => _probe.Visit("client's relay"));
        return client;
    }

    private async Task<TestServer> StartAsync(string link)
    {
        TestServer server = await TestServer.StartAsync(
            handlers => handlers
                .MapInline(Inline, (ref InlineRequest request) =>
                {
                    _probe.Visit("inline");
                    if (!request.IsOneWay)
                    {
                        request.Reply(new SequenceBody(request.Body));
                    }
                })
                .MapQueued(Queued, context => Handle("queued", context))
                .MapQueued(OnLoop, context => Handle("on loop", context), beginsOnLoop: true),
            options =>
            {
                options.Endpoints.Clear();
                options.Endpoints.Add(Links.Get(link).Uri(_directory));
                options.Routing.Relay = options.Routing.Topics = true;
            },
            components =>
            {
                components.Transports.Add(Links.Get(link).CreateTransport());
                components.Authenticator = (_, _) =>
                {
                    _probe.Visit("authenticator");
                    return new ValueTask<AuthenticationResult>(AuthenticationResult.Accept());
                };
                components.Authorizer = (_, _) =>
                {
                    _probe.Visit("authorizer");
                    return new ValueTask<bool>(true);
                };
            });
        server.Server.SessionOpened += _ => _probe.Visit("opened");
        server.Server.SessionIdentified += _ => _probe.Visit("identified");
        server.Server.RoutingIdTaken += _ => _probe.Visit("taken");
        server.Server.RoutingIdLost += (_, _) => _probe.Visit("lost");
        server.Server.SessionClosed += (_, _) => _probe.Visit("closed");
        return server;
    }

    private ValueTask Handle(string name, RequestContext context)
    {
        _probe.Visit(name);
        context.Reply(context.Body.Span);
        return ValueTask.CompletedTask;
    }

    private sealed class Pending(ContextProbe probe) : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply) => probe.Visit("reply");

        protected internal override void OnFailed(RequestFailure failure, string message) => probe.Visit("reply");
    }
}
