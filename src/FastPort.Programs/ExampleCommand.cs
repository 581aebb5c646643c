using System.CommandLine;

namespace FastPort.Programs;

/// <summary>A command whose help ends with an example.</summary>
/// <param name="name">The command's name.</param>
/// <param name="description">What it does.</param>
/// <param name="example">Its arguments in an example, without the program's name.</param>
internal sealed class ExampleCommand(string name, string description, string example) : Command(name, description)
{
    /// <summary>Its arguments in an example, without the program's name.</summary>
    public string Example { get; } = example;
}
