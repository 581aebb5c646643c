using System.Collections.Concurrent;
using System.Security.Claims;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>Authentication and authorization as services of the host, and the server's events with services.</summary>
public sealed class SessionServicesTests
{
    [Fact]
    public async Task An_authenticator_is_a_service_with_a_scope_for_each_Hello()
    {
        await using TestHost host = await TestHost.StartAsync(static builder =>
        {
            builder.Services.AddScoped<Visit>();
            builder.Services.AddScoped<IAuthenticator, TokenAuthenticator>();
            builder.Services.AddSingleton(new ConcurrentQueue<string>());
            builder.Map(static handlers => handlers.MapDiagnostics());
        });

        await using FastPortClient known = await Loopback.ConnectAsync(
            host.Server, configure: static o => (o.RoutingId, o.Token) = ("ann", "good"));
        await Assert.ThrowsAsync<RequestFailedException>(() => Loopback.ConnectAsync(
            host.Server, configure: static o => (o.Token, o.Reconnect) = ("bad", false)));

        Assert.Equal("ann", host.Server.Routing.Find("ann")!.User!.Identity!.Name);
        string[] visits = [.. host.Host.Services.GetRequiredService<ConcurrentQueue<string>>()];
        Assert.Equal(["began", "ended", "began", "ended"], visits);
    }

    [Theory]
    [InlineData(ServiceLifetime.Singleton)]
    [InlineData(ServiceLifetime.Transient)]
    public async Task An_authorizer_is_a_service(ServiceLifetime lifetime)
    {
        await using TestHost host = await TestHost.StartAsync(builder =>
        {
            builder.Services.Add(new ServiceDescriptor(typeof(IAuthorizer), typeof(NoSinkReports), lifetime));
            builder.Map(static handlers => handlers.MapDiagnostics());
        });
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);
        var failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(DiagnosticType.SinkReport, Loopback.Message("x"), SinkReport.Parser));

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
    }

    [Fact]
    public async Task A_delegate_goes_before_a_service()
    {
        await using TestHost host = await TestHost.StartAsync(static builder =>
        {
            builder.Services.AddSingleton<IAuthorizer, NoSinkReports>();
            builder.ConfigureComponents(static (_, components) =>
                components.Authorizer = static (request, _) => ValueTask.FromResult(request.Type != DiagnosticType.Echo));
            builder.Map(static handlers => handlers.MapDiagnostics());
        });
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.RequestAsync(DiagnosticType.SinkReport, Loopback.Message("x"), SinkReport.Parser);
        await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser));
    }

    [Fact]
    public async Task A_server_asks_a_client_as_soon_as_it_is_identified()
    {
        var asked = new TaskCompletionSource<Echo>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestHost host = await TestHost.StartAsync(
            builder => builder.OnSessionIdentified((provider, session) => _ = AskAsync(session)));
        MessageHandlers answers = new MessageHandlers().MapInline(0x1500, Echo.Parser, static (echo, _) => echo);

        await using FastPortClient client = await Loopback.ConnectAsync(host.Server, answers);

        Assert.Equal("who are you", (await asked.Task.WaitAsync(Loopback.Soon)).Payload.ToStringUtf8());

        async Task AskAsync(Session session)
        {
            try
            {
                asked.SetResult(await session.RequestAsync(0x1500, Loopback.Message("who are you"), Echo.Parser));
            }
            catch (RequestFailedException e)
            {
                asked.SetException(e);
            }
        }
    }

    private sealed class Visit : IDisposable
    {
        private readonly ConcurrentQueue<string> _log;

        public Visit(ConcurrentQueue<string> log)
        {
            _log = log;
            log.Enqueue("began");
        }

        public void Dispose() => _log.Enqueue("ended");
    }

    private sealed class TokenAuthenticator(Visit visit) : IAuthenticator
    {
        public async ValueTask<AuthenticationResult> AuthenticateAsync(HelloRequest hello, CancellationToken cancellationToken)
        {
            Assert.NotNull(visit);
            await Task.Yield();
            return hello.Token == "good"
                ? AuthenticationResult.Accept(new ClaimsPrincipal(
                    new ClaimsIdentity([new Claim(ClaimTypes.Name, hello.RoutingId)], "token")))
                : AuthenticationResult.Refuse();
        }
    }

    private sealed class NoSinkReports : IAuthorizer
    {
        public ValueTask<bool> AuthorizeAsync(AuthorizationRequest request, CancellationToken cancellationToken) =>
            ValueTask.FromResult(request.Type != DiagnosticType.SinkReport);
    }
}
