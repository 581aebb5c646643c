using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.Logging.Abstractions;
using Projects;

namespace FastPort.Aspire.Tests;

/// <summary>Application models, and what their resources get from the environment.</summary>
internal static class Models
{
    /// <summary>The path of a project that exists; nothing starts it.</summary>
    public static string Project { get; } = new AspireServer().ProjectPath;

    public static IDistributedApplicationBuilder Run() => Create();

    public static IDistributedApplicationBuilder Publish() => Create("--operation", "publish", "--output-path", Path.GetTempPath());

    /// <summary>Assigns the endpoint's ports, as the orchestrator does.</summary>
    public static void Allocate(EndpointReference endpoint, int port, int targetPort) =>
        endpoint.EndpointAnnotation.AllocatedEndpoint = new AllocatedEndpoint(
            endpoint.EndpointAnnotation, "localhost", port, EndpointBindingMode.SingleAddress, $"{targetPort}");

    /// <summary>The environment variables of a resource.</summary>
    public static async Task<IReadOnlyDictionary<string, string>> EnvironmentOfAsync(
        IDistributedApplicationBuilder builder, IResourceWithEnvironment resource)
    {
        IExecutionConfigurationResult result = await ExecutionConfigurationBuilder.Create(resource)
            .WithEnvironmentVariablesConfig()
            .BuildAsync(new(builder.ExecutionContext.Operation), NullLogger.Instance, Patience.Token);
        return result.EnvironmentVariables.ToDictionary();
    }

    private static IDistributedApplicationBuilder Create(params string[] arguments) => DistributedApplication.CreateBuilder(
        new DistributedApplicationOptions { Args = arguments, DisableDashboard = true });
}
