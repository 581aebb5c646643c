using Aspire.Hosting.ApplicationModel;
using FastPort.Aspire.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Aspire.Hosting;

/// <summary>Adds FastPort servers to an AppHost.</summary>
public static class FastPortServerBuilderExtensions
{
    private const int DefaultPort = 6628;
    private const int DashboardPort = 6680;

    /// <summary>
    /// Adds a project that runs a FastPort server, registered with <c>services.AddFastPort(configuration)</c>. Aspire assigns its port: the
    /// server gets its endpoint as the configuration key <c>FastPort:Endpoints:0</c>, from the environment. It is healthy when it answers.
    /// </summary>
    /// <typeparam name="TProject">The project, a type that the AppHost generates.</typeparam>
    /// <param name="builder">The application's builder.</param>
    /// <param name="name">The name of the resource, and of its connection string.</param>
    /// <param name="port">The port for clients. Defaults to null: Aspire chooses one; 6628 when the application is published.</param>
    /// <returns>The resource's builder.</returns>
    public static IResourceBuilder<FastPortServerResource> AddFastPortServer<TProject>(
        this IDistributedApplicationBuilder builder, [ResourceName] string name, int? port = null)
        where TProject : IProjectMetadata, new()
    {
        ArgumentNullException.ThrowIfNull(builder);
        return WithServer(new ServerProjects(builder).AddProject<TProject>(name), port);
    }

    /// <summary>
    /// Adds a project that runs a FastPort server, by its path. See
    /// <see cref="AddFastPortServer{TProject}(IDistributedApplicationBuilder, string, int?)"/>.
    /// </summary>
    /// <param name="builder">The application's builder.</param>
    /// <param name="name">The name of the resource, and of its connection string.</param>
    /// <param name="projectPath">The path of the project file, relative to the AppHost's directory.</param>
    /// <param name="port">The port for clients. Defaults to null: Aspire chooses one; 6628 when the application is published.</param>
    /// <returns>The resource's builder.</returns>
    public static IResourceBuilder<FastPortServerResource> AddFastPortServer(
        this IDistributedApplicationBuilder builder, [ResourceName] string name, string projectPath, int? port = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return WithServer(new ServerProjects(builder).AddProject(name, projectPath), port);
    }

    /// <summary>
    /// The server's endpoint, and the connection string of its clients, are <c>tls://</c> instead of <c>tcp://</c>. The server needs a
    /// certificate in its section <c>FastPort:Tls</c>.
    /// </summary>
    /// <param name="builder">The server's builder.</param>
    /// <param name="useDevelopmentCertificate">
    /// Whether the server presents ASP.NET Core's development certificate (<c>dotnet dev-certs https</c>) while the AppHost runs it. False
    /// if the server's configuration names a certificate; a published server always needs one there. Defaults to true.
    /// </param>
    /// <returns>The resource's builder.</returns>
    public static IResourceBuilder<FastPortServerResource> WithTls(
        this IResourceBuilder<FastPortServerResource> builder, bool useDevelopmentCertificate = true)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.WithEndpoint(FastPortServerResource.PrimaryEndpointName, static endpoint => endpoint.UriScheme = "tls");
        return useDevelopmentCertificate && builder.ApplicationBuilder.ExecutionContext.IsRunMode
            ? builder.WithEnvironment("FastPort__Tls__UseDevelopmentCertificate", "true")
            : builder;
    }

    /// <summary>
    /// Turns on the dashboard of a server that calls <c>services.AddFastPortDashboard(configuration)</c>: an HTTP endpoint named
    /// <c>dashboard</c>, whose <c>/health/ready</c> becomes a health check of the resource.
    /// </summary>
    /// <param name="builder">The server's builder.</param>
    /// <param name="port">The dashboard's port. Defaults to null: Aspire chooses one; 6680 when the application is published.</param>
    /// <param name="token">
    /// The token that readers need. Defaults to null: none while the AppHost runs the server, as only this machine reaches it; a generated
    /// secret when the application is published.
    /// </param>
    /// <returns>The resource's builder.</returns>
    public static IResourceBuilder<FastPortServerResource> WithDashboard(
        this IResourceBuilder<FastPortServerResource> builder, int? port = null, IResourceBuilder<ParameterResource>? token = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        bool isPublished = builder.ApplicationBuilder.ExecutionContext.IsPublishMode;
        builder.WithHttpEndpoint(
            port: port ?? (isPublished ? DashboardPort : null),
            targetPort: isPublished ? DashboardPort : null,
            name: FastPortServerResource.DashboardEndpointName);
        builder.WithEndpoint(FastPortServerResource.DashboardEndpointName, static endpoint => endpoint.ExcludeReferenceEndpoint = true);

        // The endpoint is the dashboard's, not that of ASP.NET Core in the server's program.
        builder.WithEndpointsInEnvironment(static endpoint => endpoint.Name != FastPortServerResource.DashboardEndpointName);
        EndpointReference dashboard = builder.GetEndpoint(FastPortServerResource.DashboardEndpointName);
        builder.WithEnvironment("Dashboard__Url", Listening("http", dashboard, isPublished));
        ParameterResource? secret = token?.Resource ?? (isPublished
            ? ParameterResourceBuilderExtensions.CreateDefaultPasswordParameter(
                builder.ApplicationBuilder, $"{builder.Resource.Name}-dashboard-token", special: false)
            : null);
        if (secret is not null)
        {
            builder.WithEnvironment("Dashboard__Token", ReferenceExpression.Create($"{secret}"));
        }

        return builder
            .WithUrlForEndpoint(FastPortServerResource.DashboardEndpointName, static url => url.DisplayText = "FastPort dashboard")
            .WithHttpHealthCheck("/health/ready", endpointName: FastPortServerResource.DashboardEndpointName);
    }

    /// <summary>
    /// Gives a resource the server's connection string, as <c>ConnectionStrings:name</c>, its host, port and URI as variables, and its
    /// endpoint for service discovery.
    /// </summary>
    /// <typeparam name="TDestination">The type of the resource.</typeparam>
    /// <param name="builder">The builder of the resource that has clients.</param>
    /// <param name="source">The server.</param>
    /// <param name="connectionName">The name of the connection string. Defaults to null: the server's name.</param>
    /// <returns>The resource's builder.</returns>
    public static IResourceBuilder<TDestination> WithReference<TDestination>(
        this IResourceBuilder<TDestination> builder, IResourceBuilder<FastPortServerResource> source, string? connectionName = null)
        where TDestination : IResourceWithEnvironment
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(source);
        string name = connectionName ?? source.Resource.Name;
        ResourceBuilderExtensions.WithReference(builder, (IResourceBuilder<IResourceWithConnectionString>)source, name);
        ResourceBuilderExtensions.WithReference(builder, (IResourceBuilder<IResourceWithServiceDiscovery>)source);

        // A manifest has no connection string for a project that a reference to it could name: the endpoint takes its place.
        string variable = $"ConnectionStrings__{name}";
        return builder.WithEnvironment(context =>
        {
            if (context.ExecutionContext.IsPublishMode && context.EnvironmentVariables.ContainsKey(variable))
            {
                context.EnvironmentVariables[variable] = source.Resource.ConnectionStringExpression;
            }
        });
    }

    private static IResourceBuilder<FastPortServerResource> WithServer(IResourceBuilder<ProjectResource> project, int? port)
    {
        var builder = (IResourceBuilder<FastPortServerResource>)project;
        FastPortServerResource server = builder.Resource;
        bool isPublished = builder.ApplicationBuilder.ExecutionContext.IsPublishMode;
        string check = $"{server.Name}_fastport";
        builder.ApplicationBuilder.Services.AddHealthChecks().Add(new HealthCheckRegistration(
            check, _ => new ServerAnswersCheck(server), failureStatus: null, tags: null, ServerAnswersCheck.Timeout));
        return builder
            .WithEndpoint(
                port: port ?? (isPublished ? DefaultPort : null),
                targetPort: isPublished ? DefaultPort : null,
                scheme: "tcp",
                name: FastPortServerResource.PrimaryEndpointName)
            .WithEnvironment(context => context.EnvironmentVariables["FastPort__Endpoints__0"] =
                Listening(server.PrimaryEndpoint.Scheme, server.PrimaryEndpoint, isPublished))
            .WithHealthCheck(check);
    }

    // Behind the orchestrator's proxy, or at every address of a container.
    private static ReferenceExpression Listening(string scheme, EndpointReference endpoint, bool isPublished) => isPublished
        ? ReferenceExpression.Create($"{scheme}://0.0.0.0:{endpoint.Property(EndpointProperty.TargetPort)}")
        : ReferenceExpression.Create($"{scheme}://127.0.0.1:{endpoint.Property(EndpointProperty.TargetPort)}");
}
