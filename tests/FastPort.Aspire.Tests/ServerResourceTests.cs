using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Projects;
using Xunit;

namespace FastPort.Aspire.Tests;

/// <summary>What a server is in the application model, and what it and its clients get from the environment.</summary>
public sealed class ServerResourceTests
{
    [Fact]
    public async Task A_server_listens_where_Aspire_says_and_its_connection_string_names_the_port_of_clients()
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer("game", Models.Project);
        Models.Allocate(game.Resource.PrimaryEndpoint, 4711, 4712);

        IReadOnlyDictionary<string, string> environment = await Models.EnvironmentOfAsync(builder, game.Resource);

        Assert.Equal("tcp://127.0.0.1:4712", environment["FastPort__Endpoints__0"]);
        Assert.Equal(
            "Endpoint=tcp://localhost:4711", await game.Resource.ConnectionStringExpression.GetValueAsync(Patience.Token));
        Assert.DoesNotContain(environment.Keys, static key => key.StartsWith("Dashboard__", StringComparison.Ordinal));
        Assert.DoesNotContain(environment.Keys, static key => key.Contains("Tls", StringComparison.Ordinal));
    }

    [Fact]
    public void A_server_is_a_project_with_all_that_Aspire_gives_to_projects()
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<ProjectResource> plain = builder.AddProject<AspireServer>("plain");
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer<AspireServer>("game");

        Type[] missing = [.. Kinds(plain).Except(Kinds(game))];

        Assert.Empty(missing);
        Assert.Same(game.Resource, Assert.Single(builder.Resources, static one => one.Name == "game"));
        Assert.Equal(Models.Project, game.Resource.GetProjectMetadata().ProjectPath);

        static IEnumerable<Type> Kinds(IResourceBuilder<ProjectResource> project) =>
            project.Resource.Annotations.Select(static one => one.GetType()).Distinct();
    }

    [Fact]
    public async Task A_client_gets_the_connection_string_its_parts_and_the_endpoint()
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer("game", Models.Project).WithDashboard();
        Models.Allocate(game.Resource.PrimaryEndpoint, 4711, 4712);
        IResourceBuilder<ProjectResource> player = builder.AddProject("player", Models.Project).WithReference(game);
        IResourceBuilder<ProjectResource> other = builder.AddProject("other", Models.Project).WithReference(game, "world");

        IReadOnlyDictionary<string, string> environment = await Models.EnvironmentOfAsync(builder, player.Resource);

        Assert.Equal("Endpoint=tcp://localhost:4711", environment["ConnectionStrings__game"]);
        Assert.Equal("localhost", environment["GAME_HOST"]);
        Assert.Equal("4711", environment["GAME_PORT"]);
        Assert.Equal("tcp://localhost:4711", environment["GAME_URI"]);
        Assert.Equal("tcp://localhost:4711", environment["services__game__tcp__0"]);
        Assert.DoesNotContain(environment.Keys, static key => key.Contains("dashboard", StringComparison.OrdinalIgnoreCase));
        environment = await Models.EnvironmentOfAsync(builder, other.Resource);
        Assert.Equal("Endpoint=tcp://localhost:4711", environment["ConnectionStrings__world"]);
        Assert.DoesNotContain("ConnectionStrings__game", environment.Keys);
    }

    [Fact]
    public async Task A_server_with_TLS_listens_and_is_reached_with_it()
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer("game", Models.Project).WithTls();
        IResourceBuilder<FastPortServerResource> own = builder.AddFastPortServer("own", Models.Project)
            .WithTls(useDevelopmentCertificate: false);
        Models.Allocate(game.Resource.PrimaryEndpoint, 4711, 4712);
        Models.Allocate(own.Resource.PrimaryEndpoint, 4721, 4722);

        IReadOnlyDictionary<string, string> environment = await Models.EnvironmentOfAsync(builder, game.Resource);

        Assert.Equal("tls://127.0.0.1:4712", environment["FastPort__Endpoints__0"]);
        Assert.Equal("true", environment["FastPort__Tls__UseDevelopmentCertificate"]);
        Assert.Equal(
            "Endpoint=tls://localhost:4711", await game.Resource.ConnectionStringExpression.GetValueAsync(Patience.Token));
        environment = await Models.EnvironmentOfAsync(builder, own.Resource);
        Assert.Equal("tls://127.0.0.1:4722", environment["FastPort__Endpoints__0"]);
        Assert.DoesNotContain("FastPort__Tls__UseDevelopmentCertificate", environment.Keys);
    }

    [Fact]
    public async Task A_dashboard_has_an_endpoint_of_its_own_a_health_check_and_a_token_if_one_is_given()
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<ParameterResource> token = builder.AddParameter("token", "0123456789abcdef", secret: true);
        IResourceBuilder<FastPortServerResource> open = builder.AddFastPortServer("open", Models.Project).WithDashboard();
        IResourceBuilder<FastPortServerResource> guarded = builder.AddFastPortServer("guarded", Models.Project)
            .WithDashboard(port: 6680, token: token);
        foreach (FastPortServerResource server in new[] { open.Resource, guarded.Resource })
        {
            Models.Allocate(server.PrimaryEndpoint, 4711, 4712);
            Models.Allocate(server.GetEndpoint("dashboard"), 4713, 4714);
        }

        IReadOnlyDictionary<string, string> environment = await Models.EnvironmentOfAsync(builder, open.Resource);

        Assert.Equal("http://127.0.0.1:4714", environment["Dashboard__Url"]);
        Assert.DoesNotContain("Dashboard__Token", environment.Keys);
        Assert.DoesNotContain("ASPNETCORE_URLS", environment.Keys);
        Assert.Equal(2, open.Resource.Annotations.OfType<HealthCheckAnnotation>().Count());
        environment = await Models.EnvironmentOfAsync(builder, guarded.Resource);
        Assert.Equal("0123456789abcdef", environment["Dashboard__Token"]);
        Assert.Equal(6680, guarded.Resource.GetEndpoint("dashboard").EndpointAnnotation.Port);
    }

    [Fact]
    public async Task A_published_server_listens_on_every_address_and_its_dashboard_has_a_generated_token()
    {
        IDistributedApplicationBuilder builder = Models.Publish();
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer("game", Models.Project, port: 7000)
            .WithDashboard().WithTls();
        IResourceBuilder<ProjectResource> player = builder.AddProject("player", Models.Project).WithReference(game);

        IReadOnlyDictionary<string, string> environment = await Models.EnvironmentOfAsync(builder, game.Resource);

        Assert.Equal("tls://0.0.0.0:{game.bindings.tcp.targetPort}", environment["FastPort__Endpoints__0"]);
        Assert.Equal("http://0.0.0.0:{game.bindings.dashboard.targetPort}", environment["Dashboard__Url"]);
        Assert.Equal("{game-dashboard-token.value}", environment["Dashboard__Token"]);
        Assert.DoesNotContain("HTTP_PORTS", environment.Keys);
        Assert.DoesNotContain("FastPort__Tls__UseDevelopmentCertificate", environment.Keys);
        EndpointAnnotation endpoint = game.Resource.PrimaryEndpoint.EndpointAnnotation;
        Assert.Equal((7000, 6628), (endpoint.Port, endpoint.TargetPort));
        environment = await Models.EnvironmentOfAsync(builder, player.Resource);
        Assert.Equal(
            "Endpoint={game.bindings.tcp.scheme}://{game.bindings.tcp.host}:{game.bindings.tcp.port}",
            environment["ConnectionStrings__game"]);
    }
}
