using System.Collections;
using FastPort.Protocol.Tools.Contracts;
using Microsoft.Build.Framework;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>The tasks, as a build calls them.</summary>
public sealed class TaskTests : IDisposable
{
    private const string Good = "service Move { option (fastport.first_type) = 0x1000; rpc Walk(Ask) returns (Answer); }";
    private readonly Protoc _protoc = new();
    private readonly Engine _engine = new();

    public void Dispose() => _protoc.Dispose();

    [Theory]
    [InlineData("Internal", "internal sealed class MoveClient")]
    [InlineData("Public", "public sealed class MoveClient")]
    public void Files_are_written_with_their_access(string access, string expected)
    {
        Assert.True(Generate(Good, access).Execute());

        Assert.Contains(expected, File.ReadAllText(_protoc["game.services.cs"]), StringComparison.Ordinal);
        Assert.Empty(_engine.Events);
    }

    [Fact]
    public void An_error_is_reported_at_its_line_and_nothing_is_written()
    {
        Assert.False(Generate("\nservice Move { rpc Walk(Ask) returns (Answer); }", "Public").Execute());

        var error = (BuildErrorEventArgs)Assert.Single(_engine.Events);
        Assert.Equal(
            (Problem.NoNumber, _protoc["game.proto"], 6, 20), (error.Code, error.File, error.LineNumber, error.ColumnNumber));
        Assert.False(File.Exists(_protoc["game.services.cs"]));
    }

    [Fact]
    public void A_descriptor_set_that_cannot_be_read_is_an_error()
    {
        GenerateServices task = Generate(Good, "Public");
        File.WriteAllBytes(_protoc.Set("game.proto"), [10, 100]);
        Assert.False(task.Execute());
        File.Delete(_protoc.Set("game.proto"));
        Assert.False(task.Execute());

        Assert.Equal([Problem.Unreadable, Problem.Unreadable], _engine.Events.Cast<BuildErrorEventArgs>().Select(static e => e.Code));
    }

    [Fact]
    public void The_list_is_written_once_and_guards_afterwards()
    {
        Assert.True(Write(Good).Execute());
        Assert.Equal("0x1000 game.Move/Walk\n", File.ReadAllText(_protoc["types.txt"]));

        // A method more is a warning until it is listed.
        string more = Good.Replace("; }", "; rpc Run(Ask) returns (Answer); }", StringComparison.Ordinal);
        Assert.True(Generate(more, "Public").Execute());
        Assert.Equal(Problem.NotListed, ((BuildWarningEventArgs)Assert.Single(_engine.Events)).Code);
        Assert.True(Write(more).Execute());
        Assert.Equal("0x1000 game.Move/Walk\n0x1001 game.Move/Run\n", File.ReadAllText(_protoc["types.txt"]));

        // Neither builds nor the command change a number.
        string changed = Good.Replace("0x1000", "0x3000", StringComparison.Ordinal);
        Assert.False(Generate(changed, "Public").Execute());
        Assert.False(Write(changed).Execute());
        Assert.All(_engine.Events.Skip(1), static e => Assert.Equal(Problem.NumberChanged, ((BuildErrorEventArgs)e).Code));
        Assert.Equal("0x1000 game.Move/Walk\n0x1001 game.Move/Run\n", File.ReadAllText(_protoc["types.txt"]));
    }

    private GenerateServices Generate(string services, string access) => new()
    {
        BuildEngine = _engine,
        Contracts = [Compile(services, access)],
        MessageTypes = _protoc["types.txt"],
    };

    private WriteMessageTypes Write(string services) => new()
    {
        BuildEngine = _engine,
        Contracts = [Compile(services, "Public")],
        MessageTypes = _protoc["types.txt"],
    };

    private Item Compile(string services, string access)
    {
        _protoc.Compile("game.proto", Protoc.Game(services));
        return new Item(_protoc["game.proto"])
        {
            ["FastPortDescriptors"] = _protoc.Set("game.proto"),
            ["FastPortServices"] = _protoc["game.services.cs"],
            ["Access"] = access,
        };
    }

    private sealed class Engine : IBuildEngine
    {
        public List<BuildEventArgs> Events { get; } = [];

        public bool ContinueOnError => false;

        public int LineNumberOfTaskNode => 0;

        public int ColumnNumberOfTaskNode => 0;

        public string ProjectFileOfTaskNode => "";

        public bool BuildProjectFile(
            string projectFileName, string[] targetNames, IDictionary globalProperties, IDictionary targetOutputs) => false;

        public void LogCustomEvent(CustomBuildEventArgs e) => Events.Add(e);

        public void LogErrorEvent(BuildErrorEventArgs e) => Events.Add(e);

        public void LogMessageEvent(BuildMessageEventArgs e) => Events.Add(e);

        public void LogWarningEvent(BuildWarningEventArgs e) => Events.Add(e);
    }

    private sealed class Item(string path) : ITaskItem
    {
        private readonly Dictionary<string, string> _metadata = new(StringComparer.OrdinalIgnoreCase);

        public string this[string name]
        {
            set => _metadata[name] = value;
        }

        public string ItemSpec { get; set; } = path;

        public ICollection MetadataNames => _metadata.Keys;

        public int MetadataCount => _metadata.Count;

        public string GetMetadata(string metadataName) => _metadata.GetValueOrDefault(metadataName, "");

        public void SetMetadata(string metadataName, string metadataValue) => _metadata[metadataName] = metadataValue;

        public void RemoveMetadata(string metadataName) => _metadata.Remove(metadataName);

        public void CopyMetadataTo(ITaskItem destinationItem)
        {
        }

        public IDictionary CloneCustomMetadata() => _metadata;
    }
}
