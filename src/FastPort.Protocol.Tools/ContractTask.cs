using FastPort.Protocol.Tools.Contracts;
using Microsoft.Build.Framework;

namespace FastPort.Protocol.Tools;

/// <summary>A task over the contracts of a project: it reads and checks them, and reports problems at their lines.</summary>
public abstract class ContractTask : ITask
{
    /// <inheritdoc/>
    public IBuildEngine BuildEngine { get; set; } = null!;

    /// <inheritdoc/>
    public ITaskHost? HostObject { get; set; }

    /// <summary>
    /// The <c>.proto</c> files. Metadata: FastPortDescriptors, protoc's descriptor set; FastPortServices, the file to generate; Access,
    /// Internal for internal types.
    /// </summary>
    [Required]
    public ITaskItem[] Contracts { get; set; } = [];

    /// <summary>The path of the list of message types, which may not exist.</summary>
    [Required]
    public string MessageTypes { get; set; } = "";

    /// <inheritdoc/>
    public bool Execute()
    {
        var problems = new List<Problem>();
        List<Contract> contracts = ReadContracts(problems);
        ContractMethod[] methods = [.. contracts.SelectMany(c => c.Services).SelectMany(s => s.Methods)];
        bool isListed = File.Exists(MessageTypes);
        var list = MessageTypeList.Read(MessageTypes, isListed ? File.ReadAllLines(MessageTypes) : [], problems);
        problems.AddRange(ContractChecks.Check(contracts));
        if (isListed)
        {
            problems.AddRange(list.Check(methods));
        }

        return Run(contracts, list, problems);
    }

    private protected abstract bool Run(List<Contract> contracts, MessageTypeList list, List<Problem> problems);

    /// <summary>Reports problems; false if one is an error.</summary>
    private protected bool Report(IEnumerable<Problem> problems)
    {
        bool isGood = true;
        foreach (Problem problem in problems)
        {
            (int line, int column) = (problem.Place.Line, problem.Place.Column);
            if (problem.IsWarning)
            {
                BuildEngine.LogWarningEvent(new BuildWarningEventArgs(
                    "", problem.Code, problem.File, line, column, 0, 0, problem.Message, "", GetType().Name));
            }
            else
            {
                isGood = false;
                BuildEngine.LogErrorEvent(new BuildErrorEventArgs(
                    "", problem.Code, problem.File, line, column, 0, 0, problem.Message, "", GetType().Name));
            }
        }

        return isGood;
    }

    private List<Contract> ReadContracts(List<Problem> problems)
    {
        var contracts = new List<Contract>();
        foreach (ITaskItem item in Contracts)
        {
            string descriptors = item.GetMetadata("FastPortDescriptors");
            try
            {
                contracts.Add(Contract.Read(item.ItemSpec, File.ReadAllBytes(descriptors)));
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or InvalidDataException)
            {
                problems.Add(new Problem(
                    Problem.Unreadable, item.ItemSpec, default, $"{descriptors} cannot be read; clean and build again. {e.Message}"));
            }
        }

        return contracts;
    }
}
