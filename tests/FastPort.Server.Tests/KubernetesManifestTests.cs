using System.Reflection;
using k8s;
using k8s.Models;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>The manifests of packaging/kubernetes, read strictly: an unknown key or a wrong type is an error.</summary>
public sealed class KubernetesManifestTests
{
    // 10 s in which the program gives up what blocks it, 5 s for its log, 5 s in reserve.
    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(20);

    [Theory]
    [InlineData("server.yaml", 6628)]
    [InlineData("opcbridge.yaml", 6629)]
    public async Task Ports_and_times_are_those_of_the_configuration(string file, int port)
    {
        IReadOnlyList<object> all = await LoadAsync(file);
        V1ConfigMap map = all.OfType<V1ConfigMap>().Single();
        IConfiguration configuration = Read(map.Data["appsettings.json"]);
        FastPortServerOptions options = configuration.GetSection("FastPort").Get<FastPortServerOptions>()!;
        V1PodSpec pod = Template(all).Spec;
        V1Container container = Assert.Single(pod.Containers);

        Assert.Equal([$"tcp://*:{port}"], options.Endpoints);
        Assert.Equal(port, Port(container, Assert.Single(all.OfType<V1Service>().Single().Spec.Ports).TargetPort));
        int health = new Uri(configuration["Dashboard:Url"]!).Port;
        Assert.All(
            [container.StartupProbe, container.LivenessProbe, container.ReadinessProbe],
            probe => Assert.Equal(health, Port(container, probe.HttpGet.Port)));
        Assert.Equal(["/health/live", "/health/live", "/health/ready"], [
            container.StartupProbe.HttpGet.Path, container.LivenessProbe.HttpGet.Path, container.ReadinessProbe.HttpGet.Path]);
        Assert.Equal(
            options.DrainDelay + options.ShutdownTimeout + Margin, TimeSpan.FromSeconds(pod.TerminationGracePeriodSeconds!.Value));
    }

    [Theory]
    [InlineData("server.yaml", "fastport-server")]
    [InlineData("opcbridge.yaml", "fastport-opcbridge")]
    public async Task The_image_is_that_of_this_version(string file, string image)
    {
        string version = typeof(FastPortServer).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion;

        Assert.Equal($"{image}:{version.Split('+')[0]}", Assert.Single(Template(await LoadAsync(file)).Spec.Containers).Image);
    }

    [Theory]
    [InlineData("server.yaml")]
    [InlineData("opcbridge.yaml")]
    public async Task Selectors_volumes_and_the_file_of_the_configuration_belong_together(string file)
    {
        IReadOnlyList<object> all = await LoadAsync(file);
        V1PodTemplateSpec template = Template(all);
        V1ConfigMap map = all.OfType<V1ConfigMap>().Single();
        V1Container container = Assert.Single(template.Spec.Containers);

        Assert.Equal(template.Metadata.Labels, all.OfType<V1Service>().Single().Spec.Selector);
        Assert.All(
            all.OfType<V1PodDisruptionBudget>(), budget => Assert.Equal(template.Metadata.Labels, budget.Spec.Selector.MatchLabels));
        V1Volume volume = Assert.Single(template.Spec.Volumes, static one => one.ConfigMap is not null);
        Assert.Equal(map.Metadata.Name, volume.ConfigMap.Name);
        string mounted = Assert.Single(container.VolumeMounts, mount => mount.Name == volume.Name).MountPath;
        Assert.Equal(["--config", $"{mounted}/{Assert.Single(map.Data).Key}"], container.Args);
        IEnumerable<string> volumes = template.Spec.Volumes.Select(static one => one.Name)
            .Concat(all.OfType<V1StatefulSet>().SelectMany(static set => set.Spec.VolumeClaimTemplates, static (_, claim) => claim.Name()));
        Assert.Equal(
            volumes.Order(StringComparer.Ordinal),
            container.VolumeMounts.Select(static mount => mount.Name).Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("server.yaml")]
    [InlineData("opcbridge.yaml")]
    public async Task Containers_have_no_rights_and_write_only_to_volumes(string file)
    {
        V1PodSpec pod = Template(await LoadAsync(file)).Spec;
        V1SecurityContext security = Assert.Single(pod.Containers).SecurityContext;

        Assert.True(pod.SecurityContext.RunAsNonRoot);
        Assert.True(security.ReadOnlyRootFilesystem);
        Assert.False(security.AllowPrivilegeEscalation);
        Assert.Equal(["ALL"], security.Capabilities.Drop);
        Assert.False(pod.AutomountServiceAccountToken);
    }

    [Fact]
    public async Task The_server_starts_with_the_configuration()
    {
        IReadOnlyList<object> all = await LoadAsync("server.yaml");
        using var directory = new TemporaryDirectory();
        string settings = Path.Combine(directory.Path, "appsettings.json");
        await File.WriteAllTextAsync(settings, all.OfType<V1ConfigMap>().Single().Data["appsettings.json"]);
        await using ServerProcess server = ServerProcess.Start(
            ["--config", settings, "--listen", "tcp://127.0.0.1:0"],
            ("Dashboard__Url", "http://0.0.0.0:0"),
            ("Dashboard__Token", "a-token-of-the-test"),
            ("FastPort__DrainDelay", "00:00:00"));

        await server.ListeningAsync();
        await server.PrintedAsync("dashboard on", 1);
        server.Signal(ServerProcess.SigTerm);
        Assert.Equal((0, string.Empty), (await server.ExitAsync(), server.Errors));
    }

    [Fact]
    public void A_wrong_key_of_a_manifest_is_an_error() => Assert.ThrowsAny<Exception>(static () => KubernetesYaml.LoadAllFromString(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: x\nspec:\n  port: 1\n", strict: true));

    private static async Task<IReadOnlyList<object>> LoadAsync(string file) => KubernetesYaml.LoadAllFromString(
        await File.ReadAllTextAsync(Path.Combine(AppContext.BaseDirectory, file)), strict: true);

    private static V1PodTemplateSpec Template(IReadOnlyList<object> all) =>
        all.OfType<V1Deployment>().SingleOrDefault()?.Spec.Template ?? all.OfType<V1StatefulSet>().Single().Spec.Template;

    private static int Port(V1Container container, IntOrString name) =>
        Assert.Single(container.Ports, port => port.Name == name.Value).ContainerPort;

    private static IConfigurationRoot Read(string json)
    {
        using var text = new MemoryStream(System.Text.Encoding.UTF8.GetBytes(json));
        return new ConfigurationBuilder().AddJsonStream(text).Build();
    }
}
