using System.Reflection;
using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Aspire.Hosting.Eventing;
using Aspire.Hosting.Pipelines;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Aspire.Hosting;

/// <summary>
/// The application's builder, except that a project which is added becomes a <see cref="FastPortServerResource"/>. Aspire's
/// <c>AddProject</c> gives a project its launch profile, debugging, rebuild command and telemetry, and accepts no other type of resource.
/// </summary>
internal sealed class ServerProjects(IDistributedApplicationBuilder inner) : IDistributedApplicationBuilder
{
    public ConfigurationManager Configuration => inner.Configuration;

    public string AppHostDirectory => inner.AppHostDirectory;

    public Assembly? AppHostAssembly => inner.AppHostAssembly;

    public IHostEnvironment Environment => inner.Environment;

    public IServiceCollection Services => inner.Services;

    public IDistributedApplicationEventing Eventing => inner.Eventing;

    public DistributedApplicationExecutionContext ExecutionContext => inner.ExecutionContext;

    public IResourceCollection Resources => inner.Resources;

#pragma warning disable ASPIREPIPELINES001, ASPIREFILESYSTEM001, ASPIREUSERSECRETS001 // Passed on, as the interface has them.
    public IDistributedApplicationPipeline Pipeline => inner.Pipeline;

    public IFileSystemService FileSystemService => inner.FileSystemService;

    public IUserSecretsManager UserSecretsManager => inner.UserSecretsManager;
#pragma warning restore ASPIREPIPELINES001, ASPIREFILESYSTEM001, ASPIREUSERSECRETS001

    public IResourceBuilder<T> AddResource<T>(T resource)
        where T : IResource =>
        typeof(T) == typeof(ProjectResource)
            ? (IResourceBuilder<T>)inner.AddResource(new FastPortServerResource(resource.Name))
            : inner.AddResource(resource);

    public IResourceBuilder<T> CreateResourceBuilder<T>(T resource)
        where T : IResource => inner.CreateResourceBuilder(resource);

    public DistributedApplication Build() => inner.Build();
}
