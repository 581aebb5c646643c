namespace Aspire.Hosting.ApplicationModel;

/// <summary>
/// A project that runs a FastPort server. Its connection string is <c>Endpoint=tcp://host:port</c>, or <c>tls://</c> after
/// <see cref="FastPortServerBuilderExtensions.WithTls"/>.
/// </summary>
public sealed class FastPortServerResource : ProjectResource, IResourceWithConnectionString
{
    internal const string PrimaryEndpointName = "tcp";
    internal const string DashboardEndpointName = "dashboard";

    internal FastPortServerResource(string name)
        : base(name) => PrimaryEndpoint = new EndpointReference(this, PrimaryEndpointName);

    /// <summary>The endpoint that clients connect to; its name is <c>tcp</c>.</summary>
    public EndpointReference PrimaryEndpoint { get; }

    /// <summary>The connection string, for clients of the server.</summary>
    public ReferenceExpression ConnectionStringExpression => ReferenceExpression.Create(
        $"Endpoint={PrimaryEndpoint.Property(EndpointProperty.Scheme)}://{PrimaryEndpoint.Property(EndpointProperty.HostAndPort)}");

    IEnumerable<KeyValuePair<string, ReferenceExpression>> IResourceWithConnectionString.GetConnectionProperties()
    {
        yield return new("Host", ReferenceExpression.Create($"{PrimaryEndpoint.Property(EndpointProperty.Host)}"));
        yield return new("Port", ReferenceExpression.Create($"{PrimaryEndpoint.Property(EndpointProperty.Port)}"));
        yield return new("Uri", ReferenceExpression.Create(
            $"{PrimaryEndpoint.Property(EndpointProperty.Scheme)}://{PrimaryEndpoint.Property(EndpointProperty.HostAndPort)}"));
    }
}
